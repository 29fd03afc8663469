import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/lib/log.ts'
import { until } from '../../support/processes.ts'
import { freePort, noOwnEngine, type OwnEngine, startOwnEngine, titled } from './own-engine.ts'
import { createWorld, failure, sh, type World } from './support.ts'
import { TINY_IMAGE } from './tiny-image.ts'

const WHY = noOwnEngine('docker-registry')

/** Manifests and configurations are smaller, layers are larger. */
const LAYER_BYTES = 100_000

interface Registry {
  /** As the names of its images have it. */
  address: string
  stop(): Promise<void>
}

/** A registry of this test's own; `more` is further configuration in YAML. */
async function startRegistry(folder: string, more = ''): Promise<Registry> {
  const port = await freePort()
  const config = join(folder, `${port}.yml`)
  const lines = [
    ...['version: 0.1', 'log:', '  level: error', 'storage:', '  filesystem:', `    rootdirectory: ${join(folder, 'images')}`],
    ...['http:', `  addr: 127.0.0.1:${port}`],
  ]
  writeFileSync(config, `${lines.join('\n')}\n${more}`)
  const child: ChildProcess = spawn('docker-registry', ['serve', config], { stdio: 'ignore' })
  await until(() => fetch(`http://127.0.0.1:${port}/v2/`).then(Boolean, () => false), 'the registry answers')
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      if (child.kill()) await once(child, 'exit')
    },
  }
}

/** In front of a registry: layers come a byte at a time. */
async function startDripping(registry: string) {
  const held = new Set<ServerResponse>()
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    const onward = request(`http://${registry}${url}`, { method, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      if (Number(answer.headers['content-length']) < LAYER_BYTES || method !== 'GET') return answer.pipe(outgoing)
      answer.destroy()
      const drip = setInterval(() => outgoing.write('.'), 20)
      held.add(outgoing)
      return outgoing.once('close', () => {
        clearInterval(drip)
        held.delete(outgoing)
      })
    })
    incoming.pipe(onward)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { held, address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

describe.skipIf(WHY !== '')(titled('docker: images from a registry', WHY), () => {
  let base: string
  let engine: OwnEngine
  let registry: Registry
  let image: string
  let world: World

  const isThere = (name: string) =>
    engine.docker
      .getImage(name)
      .inspect()
      .then(Boolean, () => false)

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'at-reg-'))
    engine = await startOwnEngine()
    registry = await startRegistry(base)
    world = await createWorld({ env: { DOCKER_HOST: engine.host }, image: TINY_IMAGE })
    const repo = `${registry.address}/some/image`
    image = `${repo}:1`
    await engine.docker.getImage(TINY_IMAGE).tag({ repo, tag: '1' })
    const push = await engine.docker.getImage(image).push({ authconfig: { username: '', password: '', serveraddress: '' } })
    await new Promise<void>((resolve, reject) =>
      engine.docker.modem.followProgress(push, error => (error ? reject(error) : resolve())),
    )
    for (const name of [image, TINY_IMAGE]) await engine.docker.getImage(name).remove()
  })
  afterEach(() => world?.clear())
  afterAll(async () => {
    await world?.remove()
    await registry?.stop()
    await engine?.[Symbol.asyncDispose]()
    rmSync(base, { recursive: true, force: true })
  })

  test('a cancel during the pull ends it, on the engine as well', async () => {
    const dripping = await startDripping(registry.address)
    try {
      const controller = new AbortController()
      const name = `${dripping.address}/some/image:1`
      const failed = failure(world.backend({ image: name }).provision(world.spec('ws-cancel'), { signal: controller.signal }))
      await until(() => dripping.held.size > 0, 'the engine asks for a layer')
      controller.abort()
      const error = await failed
      expect([error.code, error.message]).toEqual(['cancelled', expect.stringContaining(name)])
      await until(() => dripping.held.size === 0, 'the engine lets go of the layer')
      expect(await isThere(name)).toBe(false)
      expect(await world.containers()).toEqual([])
    } finally {
      dripping.close()
    }
  })

  test('an image that is not there is pulled, and what has come is told meanwhile', async () => {
    const told: { bytes: number; of: number }[] = []
    const logger = { ...silentLogger, info: (about: object, words: string) => words === 'pulling' && told.push(about as never) }
    expect(await isThere(image)).toBe(false)
    const sentences: string[] = []
    const backend = world.backend({ image, logger: logger as never })
    const onProgress = (sentence: string) => void sentences.push(sentence)
    await (await backend.provision(world.spec('ws-pull'), { onProgress })).suspend()
    const workspace = await world.open('ws-pull', { image })
    expect(await sh(workspace, 'echo fine')).toBe('fine')
    expect(workspace.info.details.image).toBe(image)
    expect(told.length).toBeGreaterThan(0)
    expect(sentences).toEqual([
      `Image ${image} is pulled.`,
      ...told.map(() => expect.stringMatching(/: [\d.]+ of [\d.]+ MiB pulled/)),
    ])
    for (const { bytes, of } of told) expect([bytes <= of, of > 0]).toEqual([true, true])
    await workspace.destroy()
    const [step, pulled] = await world.backend({ image }).probe()
    expect([step?.ok, pulled?.detail]).toEqual([true, expect.not.stringContaining('pulled just now')])
  })

  test.each([
    ['a repository', () => `${registry.address}/no/such:1`, /no\/such/],
    ['a tag', () => `${registry.address}/some/image:2`, /manifest/],
  ])('%s that is not there: the error names it and says what to do', async (_, name, words) => {
    const error = await failure(world.open('ws-none', { image: name() }))
    expect([error.code, error.message]).toEqual(['not_found', expect.stringMatching(words)])
    expect(error.message).toContain(name())
    expect(error.hint).toMatch(/Pull or build it/)
    expect(await world.containers()).toEqual([])
  })

  test('a registry that wants somebody else, and one that is not there', async () => {
    writeFileSync(join(base, 'nobody'), '')
    const closed = await startRegistry(base, `auth:\n  htpasswd:\n    realm: here\n    path: ${join(base, 'nobody')}\n`)
    try {
      const error = await failure(world.open('ws-closed', { image: `${closed.address}/some/image:1` }))
      expect([error.code, error.message]).toEqual(['unauthenticated', expect.stringContaining(closed.address)])
      expect(error.hint).toMatch(/docker login.*docker pull/)
    } finally {
      await closed.stop()
    }
    const error = await failure(world.open('ws-absent', { image: `${closed.address}/some/image:1` }))
    expect([error.code, error.message]).toEqual(['unavailable', expect.stringMatching(/refused/)])
    expect(error.hint).toContain('docker pull')
  })
})
