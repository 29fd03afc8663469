import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Passes a request and its answer on as they are; `onward` is the same request to where it is meant for, not sent yet. */
export function pass(onward: ClientRequest, message: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    onward.once('error', reject)
    onward.once('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('data', part => {
        if (!response.write(part)) answer.pause()
      })
      response.on('drain', () => answer.resume())
      answer.once('end', () => {
        response.end()
        resolve()
      })
      answer.once('error', reject)
    })
    // A client that leaves takes its request with it.
    response.once('close', () => onward.destroy())
    message.pipe(onward)
  })
}

export interface RelayOptions {
  socket: Duplex
  /** What came after the request's headers already. */
  head: Buffer
  /** Absent: as it was asked for. */
  path?: string
  /** Value of the header `Host`; absent: as it came. */
  host?: string
}

/** Passes on a request that asks for another protocol, and from then on all bytes both ways; `far` is a connection to there. */
export function relay(far: Duplex, message: IncomingMessage, { socket, head, path = message.url, host }: RelayOptions): void {
  const { method, rawHeaders } = message
  const lines = rawHeaders.flatMap((name, at, all) => {
    if (at % 2 === 1) return []
    return [`${name}: ${host !== undefined && name.toLowerCase() === 'host' ? host : all[at + 1]}`]
  })
  far.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
  if (head.length > 0) far.write(head)
  // Not by a pipe: a fault replaces `write`.
  far.on('data', part => {
    if (!socket.write(part)) far.pause()
  })
  far.once('end', () => socket.end())
  socket.on('drain', () => far.resume())
  socket.pipe(far)
  for (const each of [socket, far]) {
    each.on('error', () => {})
    each.once('close', () => {
      socket.destroy()
      far.destroy()
    })
  }
}
