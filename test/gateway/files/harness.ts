import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect } from 'vitest'
import type { CallContext, Handlers } from '../../../src/gateway/dispatch.ts'
import { createFileService, type FileServiceOptions } from '../../../src/gateway/files/file-service.ts'
import type { EditParams, Params, ReadResult, ReadText, WriteParams } from '../../../src/gateway/protocol.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import { silentLogger } from '../../../src/lib/log.ts'

const directories: string[] = []

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true })
})

/** A fresh directory (real path), removed after the test. */
export async function freshDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'atelier-files-')))
  directories.push(directory)
  return directory
}

export interface ContextOptions {
  env?: Record<string, string>
  input?: AsyncIterable<Uint8Array>
  signal?: AbortSignal
  sent?: Uint8Array[]
}

export function callContext(options: ContextOptions = {}): CallContext {
  return {
    link: { id: 'link', owner: 'owner', env: options.env ?? {} },
    signal: options.signal ?? new AbortController().signal,
    attached: () => true,
    sendable: () => 1024 * 1024,
    send: async chunk => {
      options.sent?.push(Uint8Array.from(chunk))
    },
    input: options.input ?? (async function* () {})(),
    onDetach() {},
  }
}

/** A file service on a fresh directory, with short forms of its calls. */
export async function fileBench(options: Partial<FileServiceOptions> = {}) {
  const workdir = options.workdir ?? (await freshDirectory())
  const service = createFileService({ log: silentLogger, ...options, workdir })
  const handlers: Pick<Handlers, Extract<keyof Handlers, `file.${string}`>> = service.handlers
  const read = (path: string, more: Partial<Params<'file.read'>> = {}): Promise<ReadResult> =>
    handlers['file.read']({ session: 's', path, limit: 2000, maxBytes: 256_000, maxLineBytes: 2000, ...more }, callContext())
  return {
    workdir,
    service,
    handlers,
    at: (name: string) => join(workdir, name),
    read,
    readText: async (path: string, more: Partial<Params<'file.read'>> = {}): Promise<ReadText> => {
      const result = await read(path, more)
      if (result.kind !== 'text') throw new Error(`${path} was read as ${result.kind}`)
      return result
    },
    write: (path: string, content: string, more: Partial<WriteParams> = {}) =>
      handlers['file.write']({ session: 's', path, content, ...more }, callContext()),
    edit: (path: string, oldString: string, newString: string, more: Partial<EditParams> = {}) =>
      handlers['file.edit']({ session: 's', path, oldString, newString, replaceAll: false, ...more }, callContext()),
  }
}

/** The `WorkspaceError` that a call fails with. */
export async function failure(call: Promise<unknown>): Promise<WorkspaceError> {
  const error = await call.then(
    value => expect.fail(`succeeded with ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(WorkspaceError)
  return error as WorkspaceError
}
