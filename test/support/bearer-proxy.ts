import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpServer } from './server.ts'

/** A loopback proxy that adds the bearer token, for programs that can't send one. Foreign `Host` and `Origin` pass as they came. */
export async function bearerProxy(server: HttpServer): Promise<{ url: string; close(): void }> {
  const target = new URL(server.url)
  const proxy = createServer((incoming, outgoing) => {
    const forward = request({
      hostname: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...translated(incoming.headers, port(), target.port), authorization: `Bearer ${server.token}` },
    })
    forward.on('response', response => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      outgoing.flushHeaders()
      response.pipe(outgoing)
    })
    forward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forward.destroy())
    incoming.pipe(forward)
  })
  const port = () => String((proxy.address() as AddressInfo).port)
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${port()}/mcp`,
    close() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

/** The proxy's own port in `Host` and `Origin` becomes the target's; other names are left to be refused. */
function translated(headers: IncomingHttpHeaders, from: string, to: string): IncomingHttpHeaders {
  const own = new RegExp(`(localhost|127\\.0\\.0\\.1):${from}$`)
  const { host, origin, ...rest } = headers
  return {
    ...rest,
    ...(host !== undefined && { host: host.replace(own, `$1:${to}`) }),
    ...(origin !== undefined && { origin: origin.replace(own, `$1:${to}`) }),
  }
}
