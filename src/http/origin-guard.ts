import type { IncomingMessage } from 'node:http'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether an address to listen on is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(host)
}

/** A `Host` value split into name and port, both lower case; undefined when it is malformed. */
function splitHost(host: string): { name: string; port: string } | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase())
  return match?.[1] === undefined ? undefined : { name: match[1], port: match[2] ?? '' }
}

/** Tells requests that a browser was tricked into sending (DNS rebinding, foreign pages) from honest ones. */
export interface OriginGuard {
  /** Why the request is refused; undefined when it may pass. */
  problem(request: IncomingMessage): string | undefined
  /** The origin to name in CORS headers; undefined when there is none, or it is not allowed. */
  corsOrigin(request: IncomingMessage): string | undefined
}

/** On loopback its names pass with any port, as do the configured hosts; elsewhere all hosts pass unless some are configured. */
export function createOriginGuard(options: {
  host: string
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
}): OriginGuard {
  const loopback = isLoopback(options.host)
  const hosts = new Set(options.allowedHosts.map(host => host.toLowerCase()))
  const origins = new Set(options.allowedOrigins.map(origin => origin.toLowerCase().replace(/\/$/, '')))

  const hostAllowed = (host: string | undefined): boolean => {
    const parts = splitHost(host ?? '')
    if (parts === undefined) return false
    if (!loopback && hosts.size === 0) return true
    return (loopback && LOOPBACK.has(parts.name)) || hosts.has(parts.name) || hosts.has(`${parts.name}:${parts.port}`)
  }
  const originAllowed = (origin: string): boolean => {
    if (origins.has(origin.toLowerCase())) return true
    const parts = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
    return loopback && parts !== undefined && LOOPBACK.has(splitHost(parts)?.name ?? '')
  }

  return {
    problem(request) {
      const { host, origin } = request.headers
      if ((request.headersDistinct.host?.length ?? 0) > 1) return 'A request has one Host header.'
      if (!hostAllowed(host)) return `Host "${host ?? ''}" is not served here; the operator can add it to allowedHosts.`
      if (origin !== undefined && !originAllowed(origin)) {
        return `Origin "${origin}" is not allowed; the operator can add it to allowedOrigins.`
      }
      return undefined
    },
    corsOrigin({ headers: { origin } }) {
      return origin !== undefined && originAllowed(origin) ? origin : undefined
    },
  }
}
