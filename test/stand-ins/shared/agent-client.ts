import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'

/** What the program inside refused, with the code of the system: `ENOENT`, `EISDIR`, `ESRCH`. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const HEADER = 5

/** One connection to the program inside: frames of a letter and bytes, in order, both ways. */
export class AgentConnection {
  readonly #socket: Socket
  readonly #frames: AsyncIterator<[string, Buffer]>

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#frames = readFrames(socket)
  }

  /** Connects and sends the request; refuses (`EGONE`) when nothing listens there. */
  static async open(path: string, request: object): Promise<AgentConnection> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opened = connect({ path, allowHalfOpen: true }, () => resolve(opened))
      opened.once('error', error => reject(new AgentError('EGONE', error.message)))
    })
    socket.on('error', () => socket.destroy())
    const connection = new AgentConnection(socket)
    await connection.send('J', Buffer.from(JSON.stringify(request)))
    return connection
  }

  /** Resolves when the other side keeps up again. */
  send(letter: string, payload: Uint8Array = Buffer.alloc(0)): Promise<void> {
    const head = Buffer.alloc(HEADER)
    head.writeUInt32BE(payload.length)
    head.write(letter, 4, 'latin1')
    this.#socket.write(head)
    return new Promise(resolve => this.#socket.write(payload, () => resolve()))
  }

  /** The next frame; `undefined` after the last. */
  async next(): Promise<[string, Buffer] | undefined> {
    const { done, value } = await this.#frames.next()
    return done ? undefined : value
  }

  /** The next frame as an answer; throws what it refuses. */
  async answer<T>(): Promise<T> {
    const frame = await this.next()
    if (frame === undefined) throw new AgentError('EGONE', 'the sandbox ended')
    const answer = JSON.parse(frame[1].toString()) as T & { error?: { code: string; message: string } }
    if (answer.error !== undefined) throw new AgentError(answer.error.code, answer.error.message)
    return answer
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function* readFrames(socket: Socket): AsyncGenerator<[string, Buffer]> {
  let kept: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      let at = 0
      while (kept.length - at >= HEADER) {
        const size = kept.readUInt32BE(at)
        if (kept.length - at - HEADER < size) break
        yield [String.fromCharCode(kept[at + 4] ?? 0), kept.subarray(at + HEADER, at + HEADER + size)]
        at += HEADER + size
      }
      kept = kept.subarray(at)
    }
  } catch {
    // A connection that breaks is one that ended.
  }
}

/** One request with one answer. */
export async function ask<T>(path: string, request: object): Promise<T> {
  const connection = await AgentConnection.open(path, request)
  try {
    return (await connection.answer<{ result: T }>()).result
  } finally {
    connection.close()
  }
}

/** A file's bytes, as a stream that must be read or destroyed. */
export async function readInside(path: string, file: string): Promise<{ size: number; bytes: Readable }> {
  const connection = await AgentConnection.open(path, { op: 'read', path: file })
  const { size } = await connection.answer<{ size: number }>().catch(error => {
    connection.close()
    throw error
  })
  const chunks = async function* (): AsyncGenerator<Buffer> {
    try {
      for (let frame = await connection.next(); frame?.[0] === 'O'; frame = await connection.next()) yield frame[1]
    } finally {
      connection.close()
    }
  }
  return { size, bytes: Readable.from(chunks()) }
}

/** Writes a whole file, with the folders above it. */
export async function writeInside(
  path: string,
  file: { path: string; mode?: number },
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const connection = await AgentConnection.open(path, { op: 'write', ...file })
  try {
    for await (const chunk of bytes) await connection.send('I', chunk)
    await connection.send('C')
    await connection.answer()
  } finally {
    connection.close()
  }
}
