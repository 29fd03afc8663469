import { rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** A socket in front of a container engine's that can be taken away and brought back, as an engine that restarts. */
export interface EngineProxy {
  /** Value of DOCKER_HOST that leads through it. */
  readonly host: string
  open(): Promise<void>
  /** Cuts every connection, and takes the socket away. */
  close(): Promise<void>
}

/** A proxy at `path` for the engine that the tests use, which has to be at a unix socket. */
export function createEngineProxy(path: string): EngineProxy {
  const engine = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const relay = (near: Socket): void => {
    const far = createConnection({ path: engine, allowHalfOpen: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('error', () => {})
      from.pipe(to)
    }
  }
  return {
    host: `unix://${path}`,
    open: () =>
      new Promise((resolve, reject) => {
        server = createServer({ allowHalfOpen: true }, relay).once('error', reject).listen(path, resolve)
      }),
    async close() {
      const closing = server
      server = undefined
      if (closing === undefined) return
      const closed = new Promise(resolve => closing.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
      rmSync(path, { force: true })
    },
  }
}
