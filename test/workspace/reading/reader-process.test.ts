import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import { runFileReader } from '../../../src/workspace/reading/reader-process.ts'
import { png } from '../../support/documents.ts'
import { processesNaming, until } from '../../support/processes.ts'
import { Place } from './place.ts'

let place: Place
beforeAll(() => {
  place = new Place()
})
afterAll(() => place.dispose())

const script = () => `${place.folder}/dist/file-reader.mjs`
const job = (size: number) => ({ kind: 'image', size, maxEdge: 100, maxBytes: 100_000 }) as const
const run = async (size: number, read: () => Promise<Uint8Array>, signal?: AbortSignal) => {
  const messages = []
  for await (const message of runFileReader(job(size), { source: { size, read }, script: script(), signal }))
    messages.push(message)
  return messages
}
const noneLeft = () => until(() => processesNaming(place.folder).length === 0, 'no reader is left')

describe('a reader', () => {
  it('says what it found, and is gone', async () => {
    const bytes = png(8, 8)
    expect(await run(bytes.length, async () => bytes)).toMatchObject([{ kind: 'image', width: 8, height: 8 }])
    await noneLeft()
  })

  it('whose file can not be had fails with that reason, and is gone', async () => {
    const lost = new WorkspaceError('environment_lost', 'The workspace is gone.')
    await expect(run(100, () => Promise.reject(lost))).rejects.toBe(lost)
    await noneLeft()
  })

  it('is ended when the call is cancelled, while it waits for its file', async () => {
    const controller = new AbortController()
    const running = run(
      100,
      () => {
        controller.abort()
        return new Promise(() => {})
      },
      controller.signal,
    )
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await noneLeft()
  })

  it('of a file that is shorter than it was says so', async () => {
    await expect(run(1_000, async () => new Uint8Array(0))).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('that is not there is named', async () => {
    const reading = runFileReader(job(1), {
      source: { size: 1, read: async () => new Uint8Array(1) },
      script: '/none/reader.mjs',
    })
    await expect(reading.next()).rejects.toBeInstanceOf(WorkspaceError)
  })
})

it('readers of one workspace wait for each other', async () => {
  place.write('a.png', png(300, 300))
  const views = await Promise.all(Array.from({ length: 6 }, () => place.viewer.view({ path: 'a.png', session: 's' })))
  expect(views.map(({ kind }) => kind)).toEqual(Array(6).fill('image'))
  await noneLeft()
})

it('a file that changes while it is read is an error', async () => {
  const bytes = png(3_000, 3_000)
  place.write('grows.png', bytes)
  const { files } = place
  let asked = 0
  const changing = {
    ...files,
    bytes: async (...args: Parameters<typeof files.bytes>) => {
      const part = await files.bytes(...args)
      asked += 1
      return asked > 0 ? { ...part, size: part.size + 1 } : part
    },
  }
  const { createViewer } = await import('../../../src/workspace/reading/viewer.ts')
  const { DEFAULT_LIMITS } = await import('../../../src/workspace/limits.ts')
  const viewer = createViewer(changing, { limits: DEFAULT_LIMITS, script: script() })
  await expect(viewer.view({ path: 'grows.png', session: 's' })).rejects.toMatchObject({ code: 'precondition_failed' })
})
