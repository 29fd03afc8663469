import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { AgentError } from '../shared/agent-client.ts'
import { HOME } from '../shared/containers.ts'
import type { FileEntry, Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, sendJson } from '../shared/server.ts'
import { Refusal, type SandboxData } from './sandbox.ts'
import type { ToolboxCall } from './toolbox.ts'

const BOUNDARY = 'DAYTONA-FILE-BOUNDARY'
const PLAIN_MODE = 0o644
const absolute = (path: string): string => posix.resolve(HOME, path)

type Files = Sandboxes<SandboxData>

/** `/files` of the toolbox. */
export async function answerFiles(files: Files, call: ToolboxCall): Promise<void> {
  const { request, response, sandbox } = call
  const verb = request.path.split('/')[4]
  const path = absolute(request.query.get('path') ?? '')
  try {
    if (verb === 'bulk-upload') return sendJson(response, 200, await receive(files, call))
    if (verb === 'bulk-download') return await send(files, call)
    if (verb === 'info') return sendJson(response, 200, entryOf(await files.stat(sandbox.id, path)))
    if (verb === 'folder') return sendJson(response, 201, await files.makeFolder(sandbox.id, path))
    if (verb === 'permissions') return sendJson(response, 200, await setMode(files, call, path))
    if (verb !== undefined) throw new Refusal(404, `${request.path}: not imitated`)
    if (request.method === 'DELETE') return sendJson(response, 204, await files.removePath(sandbox.id, path))
    const entries = await files.list(sandbox.id, path, Number(request.query.get('depth') ?? 1))
    sendJson(response, 200, entries.map(entryOf))
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    throw new Refusal(error.code === 'ENOENT' ? 404 : 400, error.message, error.code === 'ENOENT' ? 'FILE_NOT_FOUND' : undefined)
  }
}

/** Parts `files[N].path` and `files[N].file`, in pairs. New files get a mode, those that are there keep theirs. */
async function receive(files: Files, { sandbox, request }: ToolboxCall): Promise<object> {
  const form = await new Response(Readable.toWeb(request.message) as ReadableStream, {
    headers: { 'content-type': request.message.headers['content-type'] ?? '' },
  }).formData()
  const [errors, written]: [string[], string[]] = [[], []]
  for (let index = 0; form.has(`files[${index}].path`); index++) {
    const path = absolute(String(form.get(`files[${index}].path`)))
    const part = form.get(`files[${index}].file`)
    if (part === null || typeof part === 'string') throw new Refusal(400, `files[${index}].file is missing`)
    const there = await files.stat(sandbox.id, path).catch(() => undefined)
    const mode = there === undefined ? { mode: PLAIN_MODE } : {}
    await files.write(sandbox.id, { path, ...mode }, Readable.fromWeb(part.stream() as never)).then(
      () => written.push(path),
      (error: Error) => errors.push(`${path}: ${error.message}`),
    )
  }
  if (errors.length > 0) throw new Refusal(400, errors.join('; '))
  return { files: written }
}

async function send(files: Files, { sandbox, request, response }: ToolboxCall): Promise<void> {
  const { paths } = JSON.parse(await bodyOf(request.message)) as { paths: string[] }
  response.writeHead(200, { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` })
  const head = (name: string, path: string, type: string, length: number): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${path}"\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
  for (const path of paths) {
    try {
      const { size, bytes } = await files.read(sandbox.id, absolute(path))
      response.write(head('file', path, 'application/octet-stream', size))
      for await (const part of bytes) response.write(part)
    } catch (error) {
      const body = JSON.stringify({
        statusCode: 404,
        code: 'FILE_NOT_FOUND',
        message: (error as Error).message,
        source: 'DAYTONA_DAEMON',
      })
      response.write(head('error', path, 'application/json', Buffer.byteLength(body)))
      response.write(body)
    }
    response.write('\r\n')
  }
  response.end(`--${BOUNDARY}--\r\n`)
}

async function setMode(files: Files, { sandbox, request }: ToolboxCall, path: string): Promise<object> {
  const mode = request.query.get('mode') ?? '644'
  const child = await files.spawn(sandbox.id, ['chmod', mode, path], { env: {} })
  child.output.resume()
  const { code } = await child.exited
  if (code !== 0) throw new Refusal(400, `chmod ${path} failed`)
  return {}
}

function entryOf({ path, type, size, mode, uid, gid, mtimeMs }: FileEntry): object {
  const time = new Date(mtimeMs).toISOString()
  const permissions = mode.toString(8).padStart(4, '0')
  return {
    ...{ name: posix.basename(path), isDir: type === 'dir', size, mode: permissions, permissions },
    ...{ owner: String(uid), group: String(gid), modTime: time, modifiedAt: time },
  }
}
