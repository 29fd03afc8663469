import { isObject } from '../shape.ts'

/** What a client said of itself in `initialize`. */
export interface ClientFacts {
  name: string
  capabilities: Record<string, unknown>
}

/** Reads a client's `initialize` parameters. */
export function clientFacts(params: Record<string, unknown> | undefined): ClientFacts {
  const info = isObject(params?.clientInfo) ? params.clientInfo : {}
  return {
    name: typeof info.name === 'string' ? info.name : 'The client',
    capabilities: isObject(params?.capabilities) ? params.capabilities : {},
  }
}

/** Who asked, so that the client's answer finds its way: several servers may use the same ids and tokens. */
export interface Origin {
  link: number
  server: string
  /** The server's own id or token. */
  id: unknown
}

export function wrapOrigin({ link, server, id }: Origin): string {
  return JSON.stringify([link, server, id])
}

export function unwrapOrigin(wrapped: unknown): Origin | undefined {
  if (typeof wrapped !== 'string') return undefined
  const [link, server, id] = JSON.parse(wrapped) as [number, string, unknown]
  return { link, server, id }
}

const CAPABILITY_MISSING = -32601
const MODE_MISSING = -32602

/** Why a server's request can't go to this client; undefined where it can. What no capability stands for is left to the client. */
export function refusal(method: string, params: Record<string, unknown>, { name, capabilities }: ClientFacts) {
  const refuse = (what: string, code: number) => ({ code, message: `${name} does not offer ${what}, which ${method} needs.` })
  const { sampling, elicitation, roots } = capabilities
  switch (method) {
    case 'sampling/createMessage':
      if (!isObject(sampling)) return refuse('sampling', CAPABILITY_MISSING)
      if (params.tools !== undefined && !isObject(sampling.tools)) return refuse('sampling with tools', MODE_MISSING)
      return undefined
    case 'elicitation/create':
      if (!isObject(elicitation)) return refuse('elicitation', CAPABILITY_MISSING)
      if (params.mode === 'url') return isObject(elicitation.url) ? undefined : refuse('elicitation by URL', MODE_MISSING)
      return isObject(elicitation.url) && !isObject(elicitation.form) ? refuse('elicitation by form', MODE_MISSING) : undefined
    case 'roots/list':
      return isObject(roots) ? undefined : refuse('roots', CAPABILITY_MISSING)
    default:
      return undefined
  }
}
