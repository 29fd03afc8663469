import { WorkspaceError } from '../../lib/errors.ts'
import { fillIn } from '../../lib/variables.ts'
import type { NestedDeclaration } from '../protocol-nested.ts'

/** A declaration with `${VAR}` filled in everywhere. Throws `invalid_argument` that names all variables that are missing, and where. */
export function fillDeclaration(
  declaration: NestedDeclaration,
  variables: Readonly<Record<string, string | undefined>>,
): NestedDeclaration {
  const missing: string[] = []
  const fill = (text: string, place: string): string => fillIn(text, variables, name => missing.push(`${name} (in its ${place})`))
  const fillAll = (texts: Record<string, string>, place: string): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text, `${place} ${name}`)]))
  const filled: NestedDeclaration =
    declaration.type === 'stdio'
      ? {
          ...declaration,
          command: fill(declaration.command, 'command'),
          args: declaration.args.map(text => fill(text, 'arguments')),
          env: fillAll(declaration.env, 'variable'),
          ...(declaration.cwd === undefined ? {} : { cwd: fill(declaration.cwd, 'directory') }),
        }
      : { ...declaration, url: fill(declaration.url, 'URL'), headers: fillAll(declaration.headers, 'header') }
  if (missing.length === 0) return filled
  throw new WorkspaceError('invalid_argument', `It names variables that are not set here: ${[...new Set(missing)].join(', ')}.`, {
    hint: "Set them in the workspace's environment, give each a default, or ask the operator to list them as secrets.",
  })
}
