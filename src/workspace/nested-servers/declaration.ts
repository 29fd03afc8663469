import { WorkspaceError } from '../../lib/errors.ts'
import type { ServerDeclaration } from './port.ts'

const NAME = /^[A-Za-z0-9_-]{1,200}$/
const EXPOSE = ['prefixed', 'bare', 'hidden']

/** What is wrong with a declaration, in words; nothing where it can be used. */
export function declarationFault(declaration: ServerDeclaration): string | undefined {
  const { name, command, url, headers, args, env, cwd, type, enableTools, disableTools } = declaration
  if (!NAME.test(name)) return 'its name must be of letters, digits, _ and -'
  if ((command === undefined) === (url === undefined)) return 'it needs either a command or a url'
  if (command === '') return 'its command is empty'
  if (url !== undefined && !/^https?:\/\/|^\$\{/.test(url)) return 'its url must begin with http:// or https://'
  if (url !== undefined && (args ?? env ?? cwd) !== undefined) return 'args, env and cwd belong to a command, not to a url'
  if (url === undefined && (headers ?? type) !== undefined) return 'headers and type belong to a url, not to a command'
  if (type !== undefined && type !== 'http' && type !== 'sse') return 'its type must be http or sse'
  if (declaration.expose !== undefined && !EXPOSE.includes(declaration.expose))
    return `expose must be one of ${EXPOSE.join(', ')}`
  const both = enableTools?.find(tool => disableTools?.includes(tool))
  if (both !== undefined) return `it both enables and disables the tool ${JSON.stringify(both)}`
  return undefined
}

/** Throws `invalid_argument` for a declaration that can't be used. */
export function checkDeclaration(declaration: ServerDeclaration): void {
  const fault = declarationFault(declaration)
  if (fault === undefined) return
  throw new WorkspaceError('invalid_argument', `The server ${JSON.stringify(declaration.name)} can't be declared: ${fault}.`)
}

const HIDDEN = '(hidden)'
const SECRET_NAME = /(key|token|secret|password|passwd|auth|credential)s?$/i

/** A declaration for eyes: what may be a secret is left out, references to variables stay. */
export function withoutValues(declaration: ServerDeclaration): ServerDeclaration {
  const { env, headers, url, args } = declaration
  return {
    ...declaration,
    ...(env === undefined ? {} : { env: hideAll(env) }),
    ...(headers === undefined ? {} : { headers: hideAll(headers) }),
    ...(url === undefined ? {} : { url: hideInUrl(url) }),
    ...(args === undefined ? {} : { args: args.map(hideInArgument) }),
  }
}

function hideAll(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, hide(text)]))
}

function hide(text: string): string {
  return text === '' || /\$\{[^}]+\}/.test(text) ? text : HIDDEN
}

function hideInUrl(url: string): string {
  const bare = url.replace(/^(https?:\/\/)[^/@?#]*@/, `$1${HIDDEN}@`)
  return bare.replace(/([?&][^=&#]*=)([^&#]*)/g, (_whole, name: string, value: string) => `${name}${hide(value)}`)
}

/** `--api-key=abc`, and what follows a bare `--api-key`. */
function hideInArgument(text: string, index: number, all: readonly string[]): string {
  const equals = text.indexOf('=')
  if (equals > 0 && SECRET_NAME.test(text.slice(0, equals))) return `${text.slice(0, equals)}=${hide(text.slice(equals + 1))}`
  const before = all[index - 1]
  return before?.startsWith('-') && !before.includes('=') && SECRET_NAME.test(before) ? hide(text) : text
}
