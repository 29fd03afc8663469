import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findEndpoint } from '../../../src/backends/docker/endpoint.ts'
import { createWorld, ENV, failure, MISSING, OWNER, onEngine, sh, type World } from './support.ts'

const SOCKET = MISSING === '' ? findEndpoint({ env: ENV }).address.replace('unix://', '') : ''

describe.skipIf(!SOCKET.startsWith('/'))(onEngine('docker: an engine elsewhere, as one over TCP is'), () => {
  let world: World
  let server: Server
  let host: string

  beforeAll(async () => {
    world = await createWorld()
    server = createServer({ allowHalfOpen: true }, client => {
      const engine = connect({ path: SOCKET, allowHalfOpen: true })
      client.pipe(engine).pipe(client)
      for (const end of [client, engine]) end.on('error', () => client.destroy() && engine.destroy())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    host = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
  }, 120_000)
  afterAll(async () => {
    server?.close()
    await world?.remove()
  }, 60_000)

  test('files are in a volume of the engine, which any host finds again and which goes with the workspace', async () => {
    const id = `ws-far-${process.pid}`
    const workspace = await world.open(id, { host }, { name: 'far' })
    try {
      await sh(workspace, 'echo kept > file')
      await workspace.close()
      const other = world.backend({ host, dataDir: `${world.base}/elsewhere` })
      expect(await other.find(id)).toMatchObject({ state: 'suspended', name: 'far', owner: OWNER })
      const listed = []
      for await (const info of other.list(OWNER)) if (info.id === id) listed.push(info.state)
      expect(listed).toEqual(['suspended'])
      const again = await world.open(id, { host, dataDir: `${world.base}/elsewhere` })
      expect(await sh(again, 'cat file')).toBe('kept')
      await again.destroy()
      expect(await other.find(id)).toBeUndefined()
      expect(await world.volumes()).not.toContain(`atelier-${id}`)
    } finally {
      await world.docker
        .getContainer(`atelier-${id}`)
        .remove({ force: true, v: true })
        .catch(() => {})
      await world.docker
        .getVolume(`atelier-${id}`)
        .remove()
        .catch(() => {})
    }
  })

  test("a directory of this host can't be mounted there, and the error says so", async () => {
    const error = await failure(world.open('ws-far-own', { host }, { directory: world.base }))
    expect([error.code, error.message]).toEqual(['unsupported', expect.stringContaining(world.base)])
  })

  test.each([false, true])('a user who is not root inside can write there as well; read-only root: %s', async readOnlyRoot => {
    const id = `ws-far-user-${process.pid}`
    const options = { host, profiles: { it: { user: '1500:1500', readOnlyRoot } }, profile: 'it' }
    const workspace = await world.open(id, options)
    expect(await sh(workspace, 'touch made; ls; id -u')).toBe('made\n1500')
    await workspace.destroy()
  })
})
