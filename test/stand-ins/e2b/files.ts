import type { IncomingMessage, ServerResponse } from 'node:http'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { AgentError } from '../shared/agent-client.ts'
import type { FileEntry, Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson } from '../shared/server.ts'
import { RpcError } from './connect-protocol.ts'
import type { SandboxData } from './sandbox.ts'

interface Call {
  id: string
  request: Request
  response: ServerResponse
}

const HOME = '/home/user'
const absolute = (path: string): string => posix.resolve(HOME, path.replace(/^~/, HOME))

/** `GET` and `POST /files` of envd. */
export async function answerFiles(sandboxes: Sandboxes<SandboxData>, { id, request, response }: Call): Promise<void> {
  const path = request.query.get('path')
  if (request.method === 'POST') return sendJson(response, 200, await receive(sandboxes, id, request))
  try {
    const { size, bytes } = await sandboxes.read(id, absolute(path ?? ''))
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size })
    await pipeline(bytes, response)
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    const code = error.code === 'ENOENT' ? 404 : error.code === 'EISDIR' ? 400 : 500
    sendJson(response, code, { code, message: error.message })
  }
}

async function receive(sandboxes: Sandboxes<SandboxData>, id: string, { query, message }: Request): Promise<object[]> {
  const path = query.get('path')
  const type = message.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) {
    const whole = absolute(path ?? '')
    await sandboxes.write(id, { path: whole }, decoded(message))
    return [{ name: posix.basename(whole), path: whole, type: 'file' }]
  }
  const form = await new Response(Readable.toWeb(decoded(message)) as ReadableStream, {
    headers: { 'content-type': type },
  }).formData()
  const files: object[] = []
  for (const part of form.getAll('file')) {
    if (typeof part === 'string') continue
    const whole = absolute(path ?? part.name)
    await sandboxes.write(id, { path: whole }, Readable.fromWeb(part.stream() as never))
    files.push({ name: posix.basename(whole), path: whole, type: 'file' })
  }
  return files
}

function decoded(message: IncomingMessage): Readable {
  return message.headers['content-encoding'] === 'gzip' ? message.pipe(createGunzip()) : message
}

/** `filesystem.Filesystem` of envd. */
export async function answerFilesystem(
  sandboxes: Sandboxes<SandboxData>,
  name: string,
  { id, request, response }: Call,
): Promise<void> {
  const body = JSON.parse(await bodyOf(request.message)) as Record<string, string>
  const path = absolute(body.path ?? '')
  try {
    if (name === 'Stat') sendJson(response, 200, { entry: entryOf(await sandboxes.stat(id, path)) })
    else if (name === 'ListDir') {
      const entries = await sandboxes.list(id, path, Number(body.depth ?? 1))
      sendJson(response, 200, { entries: entries.map(entryOf) })
    } else if (name === 'MakeDir') {
      const { made } = await sandboxes.makeFolder(id, path)
      if (!made) throw new RpcError('already_exists', `directory already exists: ${path}`)
      sendJson(response, 200, { entry: entryOf(await sandboxes.stat(id, path)) })
    } else if (name === 'Move') {
      const to = absolute(body.destination ?? '')
      await sandboxes.move(id, absolute(body.source ?? ''), to)
      sendJson(response, 200, { entry: entryOf(await sandboxes.stat(id, to)) })
    } else if (name === 'Remove') {
      await sandboxes.removePath(id, path)
      sendJson(response, 200, {})
    } else throw new RpcError('unimplemented', `filesystem.Filesystem/${name}`)
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    throw new RpcError(
      error.code === 'ENOENT' ? 'not_found' : error.code === 'EEXIST' ? 'already_exists' : 'internal',
      error.message,
    )
  }
}

const TYPES = { file: 'FILE_TYPE_FILE', dir: 'FILE_TYPE_DIRECTORY', symlink: 'FILE_TYPE_SYMLINK' } as const

function entryOf({ path, type, size, mode, mtimeMs, link }: FileEntry): object {
  return {
    ...{ name: posix.basename(path), type: TYPES[type], path, size: String(size), mode },
    ...{ permissions: permissions(mode, type), owner: 'user', group: 'user', modifiedTime: new Date(mtimeMs).toISOString() },
    ...(link === undefined ? {} : { symlinkTarget: link }),
  }
}

function permissions(mode: number, type: FileEntry['type']): string {
  const bits = [...'rwxrwxrwx'].map((letter, at) => (mode & (1 << (8 - at)) ? letter : '-')).join('')
  return `${type === 'dir' ? 'd' : type === 'symlink' ? 'L' : '-'}${bits}`
}
