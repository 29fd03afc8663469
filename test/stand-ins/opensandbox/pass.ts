import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Where a request is passed on to. */
export interface Target {
  /** `host:port`. */
  host: string
  path: string
}

function open({ host, path }: Target, message: IncomingMessage): ReturnType<typeof httpRequest> {
  const [hostname, port] = host.split(':')
  const headers = { ...message.headers, host }
  return httpRequest({ hostname, port, path, method: message.method, headers, agent: false })
}

/** Passes a request and its answer on as they are. */
export function pass(target: Target, message: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const onward = open(target, message)
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

/** Passes on what becomes a websocket, in both directions. */
export function relay(target: Target, message: IncomingMessage, { socket, head }: { socket: Duplex; head: Buffer }): void {
  const onward = open(target, message)
  onward.once('error', () => socket.destroy())
  onward.once('response', answer => {
    socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nConnection: close\r\n\r\n`)
    answer.pipe(socket)
  })
  onward.once('upgrade', (answer, other, rest) => {
    const lines = answer.rawHeaders.flatMap((text, at, all) => (at % 2 === 0 ? [`${text}: ${all[at + 1]}`] : []))
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    if (rest.length > 0) socket.write(rest)
    if (head.length > 0) other.write(head)
    // Not by a pipe: a fault replaces `write`.
    other.on('data', part => {
      if (!socket.write(part)) other.pause()
    })
    socket.on('drain', () => other.resume())
    socket.pipe(other)
    for (const each of [socket, other]) {
      each.on('error', () => {})
      each.once('close', () => {
        socket.destroy()
        other.destroy()
      })
    }
  })
  onward.end()
}
