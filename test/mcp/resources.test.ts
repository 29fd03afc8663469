import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Manager } from '../../src/manager/manager.ts'
import { RESOURCE_MAX_BYTES } from '../../src/mcp/resource-read.ts'
import { parseResourceUri } from '../../src/mcp/resource-uri.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { workspaceUri } from '../../src/workspace/workspace-uri.ts'
import { type FakeClient, fakeSummary, fakeWorkspace, openClient } from './support.ts'

const BIG = 5_000_000

/** Files of a fake workspace: absolute path → content; a directory is whatever has files below it. */
function fakeFiles(content: Record<string, Buffer>): Workspace['files'] {
  const isDirectory = (path: string) => Object.keys(content).some(name => name.startsWith(`${path.replace(/\/$/, '')}/`))
  return {
    stat: async (path: string) => {
      const data = content[path]
      if (data !== undefined) return { path, type: 'file', size: path.endsWith('big') ? BIG : data.length }
      return { path, type: isDirectory(path) ? 'directory' : 'missing', size: 0 }
    },
    list: async (path: string) => {
      const below = Object.keys(content).filter(name => name.startsWith(`${path.replace(/\/$/, '')}/`))
      const names = new Set(below.map(name => name.slice(path.replace(/\/$/, '').length + 1)))
      const entries = [...names].map(name => {
        const [first = '', rest] = name.split('/')
        return { name: first, type: rest === undefined ? 'file' : 'directory', size: 1 }
      })
      return { path, entries, truncated: false }
    },
    bytes: async (path: string, { offset, length }: { offset: number; length: number }) => ({
      path,
      size: content[path]?.length,
      data: content[path]?.subarray(offset, offset + length),
    }),
    read: async ({ path, offset, limit }: { path: string; offset: number; limit: number }) => {
      const lines = content[path]?.toString().trimEnd().split('\n') ?? []
      return { kind: 'text', lines: lines.slice(offset - 1, offset - 1 + limit), byteLimited: false, cutLines: [] }
    },
  } as unknown as Workspace['files']
}

const FILES = {
  '/w/w1/a.md': Buffer.from('one\ntwo\nthrée\n'),
  '/w/w1/dir/x y.txt': Buffer.from('x'),
  '/w/w1/pic.png': Buffer.from([0x89, 0x50, 0, 0xff]),
  '/w/w1/empty': Buffer.alloc(0),
  '/w/w1/big': Buffer.from('0123456789'),
  '/r/w1/sessions/s.txt': Buffer.from('kept'),
}

function open(): FakeClient {
  const workspace = fakeWorkspace({ id: 'w1', files: fakeFiles(FILES) })
  const release = (): void => {}
  const manager: Partial<Manager> = {
    acquire: async () => ({ workspace, release, [Symbol.dispose]: release }),
    opened: id => (id === 'w1' ? workspace : undefined),
    defaultId: async () => 'w1',
    find: async (_scope, ref) => ({ id: ref }) as never,
  }
  return openClient({ manager, summaries: [fakeSummary('w1', true), fakeSummary('w2', false)] })
}

async function read(uri: string): Promise<Record<string, unknown>> {
  const { result, error } = await open().request('resources/read', { uri })
  return (error ?? (result as { contents: Record<string, unknown>[] }).contents[0]) as Record<string, unknown>
}

describe('workspace URIs', () => {
  it('come back from any path', () => {
    const segment = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .filter(text => !/[/\0]/.test(text) && text !== '.' && text !== '..')
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1 }), segments => {
        const path = segments.join('/')
        expect(parseResourceUri(workspaceUri('w 1', path))).toEqual({ kind: 'file', id: 'w 1', path })
      }),
    )
  })

  it.each([
    ['workspace://', { kind: 'all' }],
    ['workspace://w1', { kind: 'status', id: 'w1' }],
    ['workspace://w1/', { kind: 'file', id: 'w1', path: '' }],
    ['workspace://w1/.env', { kind: 'file', id: 'w1', path: '.env' }],
    ['workspace:///data/x', { kind: 'file', path: 'data/x' }],
    ['workspace://w1/data/x?root', { kind: 'file', id: 'w1', path: 'data/x', fromRoot: true }],
    ['workspace://w1/a/../b', { kind: 'file', id: 'w1', path: 'b' }],
    ['workspace://w1/a?lines=3-9', { kind: 'file', id: 'w1', path: 'a', range: { kind: 'lines', first: 3, last: 9 } }],
    ['workspace://w1/a?offset=5&limit=7', { kind: 'file', id: 'w1', path: 'a', range: { kind: 'bytes', offset: 5, limit: 7 } }],
  ])('%s is understood', (uri, target) => {
    expect(parseResourceUri(uri)).toEqual(target)
  })

  it.each([
    ['workspace://w1/../x', 'leaves'],
    ['workspace://w1/%2e%2e/x', 'leaves'],
    ['workspace://w1/%zz', 'escape'],
    ['workspace://w1/a%00b', 'NUL'],
    ['workspace://w1/a?lines=0-3', 'lines=0-3'],
    ['workspace://w1/a?lines=5-3', 'lines=5-3'],
    ['workspace://w1/a?offset=-1', 'whole numbers'],
    ['workspace://w1/a?size=3', 'size'],
    ['file:///etc/passwd', 'no resource'],
  ])('%s is refused', (uri, why) => {
    expect(() => parseResourceUri(uri)).toThrow(why)
  })
})

describe('resources/read', () => {
  it('gives text, parts of it by lines and bytes, and blobs', async () => {
    expect(await read('workspace://w1/a.md')).toEqual({
      uri: 'workspace://w1/a.md',
      mimeType: 'text/markdown',
      text: 'one\ntwo\nthrée\n',
    })
    expect(await read('workspace://w1/a.md?lines=2-3')).toMatchObject({ text: 'two\nthrée\n' })
    expect(await read('workspace://w1/a.md?offset=4&limit=3')).toMatchObject({ text: 'two' })
    expect(await read('workspace://w1/empty')).toMatchObject({ text: '', mimeType: 'text/plain' })
    expect(await read('workspace://w1/pic.png')).toMatchObject({ mimeType: 'image/png', blob: 'iVAA/w==' })
    expect(await read('workspace:///sessions/s.txt')).toMatchObject({ text: 'kept' })
  })

  it('loses no character between byte ranges', async () => {
    const parts: unknown[] = []
    for (let offset = 0; offset < FILES['/w/w1/a.md'].length; offset += 3)
      parts.push((await read(`workspace://w1/a.md?offset=${offset}&limit=3`)).text)
    expect(parts.join('')).toBe('one\ntwo\nthrée\n')
  })

  it('lists a directory with URIs that can be read', async () => {
    const listing = JSON.parse((await read('workspace://w1/dir')).text as string)
    expect(listing.entries).toMatchObject([{ name: 'x y.txt', uri: 'workspace://w1/dir/x%20y.txt' }])
    expect(await read(listing.entries[0].uri)).toMatchObject({ text: 'x' })
  })

  it('says how to read a part of what is too large', async () => {
    const error = await read('workspace://w1/big')
    expect(error).toMatchObject({ code: -32015, message: expect.stringContaining(`?offset=0&limit=${RESOURCE_MAX_BYTES}`) })
  })

  it('answers -32002 with the URI for what is not there', async () => {
    expect(await read('workspace://w1/nope')).toMatchObject({ code: -32002, data: { uri: 'workspace://w1/nope' } })
    expect(await read('other://x')).toMatchObject({ code: -32002 })
  })

  it('gives all workspaces and the status of one', async () => {
    expect(JSON.parse((await read('workspace://')).text as string).workspaces).toHaveLength(2)
    expect(JSON.parse((await read('workspace://w2')).text as string).summary.id).toBe('w2')
  })
})

describe('lists, templates, completion, prompts', () => {
  it('lists workspaces, and the top level of those that are open', async () => {
    const { result } = await open().request('resources/list')
    const uris = (result as { resources: { uri: string }[] }).resources.map(resource => resource.uri)
    expect(uris).toEqual([
      'workspace://',
      'workspace://w1',
      'workspace://w1/a.md',
      'workspace://w1/dir',
      'workspace://w1/pic.png',
      'workspace://w1/empty',
      'workspace://w1/big',
      'workspace://w2',
    ])
  })

  it('asks no workspace whose environment is lost', async () => {
    const files = { ...fakeFiles(FILES), list: () => expect.fail('it was asked') }
    const workspace = fakeWorkspace({ id: 'w1', files, lost: true })
    const manager: Partial<Manager> = { opened: () => workspace, defaultId: async () => 'w1' }
    const { result } = await openClient({ manager, summaries: [fakeSummary('w1', true)] }).request('resources/list')
    const uris = (result as { resources: { uri: string }[] }).resources.map(resource => resource.uri)
    expect(uris).toEqual(['workspace://', 'workspace://w1'])
  })

  it('has templates', async () => {
    const { result } = await open().request('resources/templates/list')
    expect(result).toMatchObject({
      resourceTemplates: [{}, { uriTemplate: 'workspace://{workspace}/{+path}' }, {}, { uriTemplate: 'skill://{skill}/{+path}' }],
    })
  })

  it('completes ids, names and paths', async () => {
    const client = open()
    const ref = { type: 'ref/resource', uri: 'workspace://{workspace}/{+path}' }
    const complete = async (name: string, value: string, given?: object) =>
      (await client.request('completion/complete', { ref, argument: { name, value }, ...given })).result
    expect(await complete('workspace', 'w')).toMatchObject({ completion: { values: ['w1', 'w2'], hasMore: false } })
    expect(await complete('workspace', 'name-')).toMatchObject({ completion: { values: ['name-w1', 'name-w2'] } })
    const context = { context: { arguments: { workspace: 'w1' } } }
    expect(await complete('path', 'd', context)).toMatchObject({ completion: { values: ['dir/'] } })
    expect(await complete('path', 'dir/', context)).toMatchObject({ completion: { values: ['dir/x y.txt'] } })
    expect(await complete('path', '../', context)).toMatchObject({ completion: { values: [] } })
    expect(await complete('path', '', { context: { arguments: { workspace: 'w2' } } })).toMatchObject({
      completion: { values: [] },
    })
  })

  it('has the instructions as a prompt', async () => {
    const client = open()
    expect((await client.request('prompts/list')).result).toMatchObject({ prompts: [{ name: 'workspace-instructions' }] })
    const { result } = await client.request('prompts/get', { name: 'workspace-instructions' })
    expect(result).toMatchObject({ messages: [{ role: 'user', content: { type: 'text', text: 'work in /w/w1' } }] })
  })
})
