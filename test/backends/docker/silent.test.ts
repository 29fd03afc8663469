import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Dockerode from 'dockerode'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DockerContext } from '../../../src/backends/docker/context.ts'
import { createDockerBackend } from '../../../src/backends/docker/docker.ts'
import { createDockerEnvironment } from '../../../src/backends/docker/environment.ts'
import { newRecord } from '../../../src/backends/docker/record.ts'
import { infoOf } from '../../../src/backends/docker/state.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { failure, OWNER } from '../support.ts'

const INFO = JSON.stringify({ ServerVersion: '1', SecurityOptions: [] })

describe('an engine that accepts and never answers', () => {
  let folder: string
  let server: Server
  let socketPath: string
  const sockets = new Set<Socket>()
  /** First lines of the requests that got no answer. */
  const unanswered: string[] = []

  /** `knows`: it says what it is, and nothing else. */
  const listen = async (knows: boolean) => {
    server = createServer(socket => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => {})
      socket.on('data', data => {
        const line = `${data}`.split('\r\n')[0] ?? ''
        if (knows && line.startsWith('GET /info')) {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${INFO.length}\r\n\r\n${INFO}`)
        } else unanswered.push(line)
      })
    })
    await new Promise<void>(resolve => server.listen(socketPath, resolve))
  }
  const hangUp = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  }
  const backend = () =>
    createDockerBackend({ dataDir: folder, host: `unix://${socketPath}`, env: {}, logger: silentLogger, image: 'some' })
  /** The error of a call that is cancelled once its request is there. */
  const cancelled = async (call: (signal: AbortSignal) => Promise<unknown>, request: string) => {
    const controller = new AbortController()
    const failed = failure(call(controller.signal))
    await expect.poll(() => unanswered).toContainEqual(expect.stringContaining(request))
    controller.abort()
    const { code } = await failed
    return code
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'at-sil-'))
    socketPath = join(folder, 'engine.sock')
    // A data directory that was used.
    mkdirSync(join(folder, 'docker'))
    unanswered.length = 0
  })
  afterEach(async () => {
    await hangUp()
    rmSync(folder, { recursive: true, force: true })
  })

  const calls = {
    find: async (signal: AbortSignal) => backend().find('ws', { signal }),
    list: async (signal: AbortSignal) => {
      for await (const _ of backend().list(OWNER, { signal }));
    },
    prune: async (signal: AbortSignal) => {
      for await (const _ of backend().prune?.({ dryRun: true, signal }) ?? []);
    },
    remove: async (signal: AbortSignal) => backend().remove?.({ id: 'ws', owner: OWNER }, { signal }),
    provision: async (signal: AbortSignal) => {
      const boot = async () => ({ files: [], argv: [] })
      await backend().provision({ id: 'ws', name: 'ws', owner: OWNER, boot }, { signal })
    },
  }
  test.each(Object.entries(calls))(
    '%s ends when it is cancelled, before the engine said what it is and after',
    async (_, call) => {
      await listen(false)
      expect(await cancelled(call, 'GET /info')).toBe('cancelled')
      await hangUp()
      unanswered.length = 0
      await listen(true)
      expect(await cancelled(call, 'GET /containers/')).toBe('cancelled')
      await expect.poll(() => sockets.size, { timeout: 15_000 }).toBe(0)
    },
  )

  const environment = () => {
    const spec = { id: 'ws', name: 'ws', owner: OWNER }
    const record = newRecord(spec, { image: 'some', profile: 'default', keep: 'volume' })
    const engine = { docker: new Dockerode({ socketPath }), rootless: false } as DockerContext['engine']
    const context = { engine, dataDir: folder, scope: '', hostUser: { uid: 0, gid: 0 }, logger: silentLogger } as DockerContext
    return createDockerEnvironment(context, record, infoOf(record, { status: 'running', id: 'c1', name: 'atelier-ws' }))
  }
  test.each([
    ['suspend', (signal: AbortSignal) => environment().suspend({ signal }), 'POST /containers/c1/stop'],
    ['destroy', (signal: AbortSignal) => environment().destroy({ signal }), 'GET /containers/atelier-ws/json'],
    ['openStream', (signal: AbortSignal) => environment().openStream(['true'], { signal }), 'POST /containers/c1/exec'],
  ])('%s ends when it is cancelled', async (_, call, request) => {
    await listen(false)
    expect(await cancelled(call, request)).toBe('cancelled')
  })

  test('a call that was cancelled before it began asks nothing', async () => {
    await listen(true)
    const { code } = await failure(environment().suspend({ signal: AbortSignal.abort() }))
    expect([code, unanswered]).toEqual(['cancelled', []])
  })
})
