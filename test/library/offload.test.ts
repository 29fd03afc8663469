import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectEngine } from '../../src/backends/docker/engine.ts'
import { DockerWorkspace } from '../../src/library/docker-workspace.ts'
import { LocalWorkspace } from '../../src/library/local-workspace.ts'
import type { WorkspaceHandle } from '../../src/library/workspace-handle.ts'
import type { Offloader } from '../../src/workspace/offload/offloader.ts'
import { ENV, IMAGE, MISSING, onEngine } from '../backends/docker/support.ts'
import { createPlace } from './place.ts'

type Place = ReturnType<typeof createPlace>
const OPTIONS = { name: 'offload', limits: { offloadChars: 2_000, outputChars: 200_000 } }
const BACKENDS: { name: string; missing: string; make(place: Place): WorkspaceHandle }[] = [
  { name: 'local', missing: '', make: place => new LocalWorkspace(OPTIONS, place.read) },
  {
    name: onEngine('docker'),
    missing: MISSING,
    make: place => new DockerWorkspace(OPTIONS, () => ({ ...place.read(), docker: { env: ENV, image: IMAGE } })),
  },
]

const image = (text: string) => ({ type: 'image', data: Buffer.from(text).toString('base64'), mimeType: 'image/png' })

async function removeContainers(place: Place): Promise<void> {
  const { docker } = await connectEngine({ env: ENV })
  const filters = { label: [`atelier.data-dir=${place.base}/data`] }
  for (const { Id } of await docker.listContainers({ all: true, filters })) {
    await docker.getContainer(Id).remove({ force: true, v: true })
  }
}

describe.each(BACKENDS.map(backend => [backend.name, backend] as const))('on %s', (name, { missing, make }) => {
  let place: Place
  let workspace: WorkspaceHandle
  beforeAll(async () => {
    if (missing !== '') return
    place = createPlace()
    workspace = await make(place).initialize()
  }, 120_000)
  afterAll(async () => {
    if (missing !== '') return
    await workspace.destroy()
    if (name !== 'local') await removeContainers(place)
    place.remove()
  }, 60_000)
  const check = test.skipIf(missing !== '')

  async function readText(path: string): Promise<string> {
    const parts: Uint8Array[] = []
    await workspace.files.get(path, chunk => void parts.push(Uint8Array.from(chunk)))
    return Buffer.concat(parts).toString()
  }
  const namesIn = async (folder: string) => {
    const { entries } = await workspace.files.list(`${workspace.info.root}/${folder}`)
    return entries.map(entry => entry.name)
  }

  check('a workspace is an offloader, over a real link', async () => {
    const offloader: Offloader = workspace
    const large = { role: 'user', content: 'ä😀'.repeat(500_000) }
    const { path, size, offset } = await offloader.offloadContext('s1', [large, { role: 'user', content: [image('one')] }])
    expect(offset).toBe(0)
    const text = await readText(path)
    expect(Buffer.byteLength(text)).toBe(size)
    const [first, second] = text.split('\n')
    expect(JSON.parse(first!)).toEqual(large)
    expect(second).toMatch(/"uri":"workspace:\/\/\/data\/[0-9a-f]{64}\.png"/)
    const { block, blob } = await offloader.offloadDataBlock(image('two'))
    expect(block).toMatchObject({ type: 'resource_link', uri: blob?.uri })
    const results = await Promise.all([1, 2].map(n => offloader.offloadToolResult('s1', { id: 'r', output: `text ${n}` })))
    expect(await Promise.all(results.map(({ path }) => readText(path)))).toEqual(['text 1', 'text 2'])
    const listed = await workspace.listOffloads('s1')
    expect(listed.map(({ kind }) => kind)).toEqual(['context', 'tool_result', 'tool_result'])
  })

  check('concurrent appends keep all', async () => {
    const one = (n: number) =>
      workspace.offloadContext('many', [
        { n, part: 0 },
        { n, part: 1, fill: 'x'.repeat(20_000) },
      ])
    const [first] = await Promise.all(Array.from({ length: 50 }, (_, n) => one(n)))
    const lines = (await readText(first!.path)).trimEnd().split('\n')
    const seen = lines.map(line => JSON.parse(line) as { n: number; part: number })
    expect(new Set(seen.map(({ n, part }) => `${n}.${part}`)).size).toBe(100)
    for (let at = 0; at < seen.length; at += 2) expect(seen[at + 1]).toMatchObject({ n: seen[at]?.n, part: 1 })
  })

  check('a signal stops a call, and nothing of it stays', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(20_000_000) }]
    const call = workspace.offloadContext('stopped', messages, { signal: AbortSignal.timeout(5) })
    await expect(call).rejects.toThrow()
    expect(await workspace.listOffloads('stopped')).toEqual([])
  })

  check('purge and sweep give the space back', async () => {
    await workspace.offloadContext('kept', [{ content: [image('kept')] }])
    await workspace.offloadContext('purged', [{ content: [image('purged')] }])
    await workspace.purgeSession({ session: 'purged' })
    expect(await namesIn('sessions')).not.toContain('purged')
    expect((await workspace.sweepOffloads()).removed).toEqual([])
    const { removed } = await workspace.sweepOffloads({ olderThanMs: -60_000 })
    expect(removed).toHaveLength(2)
    expect(await namesIn('data')).toHaveLength(2)
    await workspace.purgeSession({ session: '..' })
    await workspace.purgeSession({})
    await workspace.purgeAgent('nobody')
    expect(await namesIn('sessions')).toContain('kept')
  })

  check('tools keep their structured facts whole, while a large text is offloaded', async () => {
    const bash = (await workspace.listTools()).find(({ name }) => name === 'Bash')!
    const small = await bash.call({ command: 'echo hi' })
    expect(small.text).toMatch(/^hi\n\[exit code 0, after /)
    expect(small).toMatchObject({ structured: { status: 'exited', exitCode: 0, output: small.text } })
    const { text, structured, content } = await bash.call({ command: 'seq 1 3000' })
    expect(text.length).toBeLessThan(2_000)
    expect(String(structured?.output)).toContain('\n1500\n')
    expect(content).toMatchObject([{ type: 'resource_link' }])
  })
})
