import { createReadStream } from 'node:fs'
import { access, chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import picomatch from 'picomatch'
import { answer, bodyOf, type Call, jsonOf, Refusal, type Route } from './http.ts'
import { partsOf } from './multipart.ts'

interface Permission {
  /** Octal digits as a decimal number: 755. */
  mode?: number
}

/** `/files`, `/directories` and `/metrics`. */
export function createFileRoutes(): Route[] {
  const route = (method: string, path: RegExp, run: (call: Call) => Promise<unknown>): Route => ({
    method,
    path,
    async run(call) {
      const result = await run(call).catch(error => {
        throw error instanceof Refusal ? error : fileError(error as NodeJS.ErrnoException)
      })
      if (!call.response.headersSent) answer(call, 200, result)
    },
  })
  const paths = ({ url }: Call): string[] => url.searchParams.getAll('path')
  return [
    route('POST', /^\/files\/upload$/, upload),
    route('GET', /^\/files\/download$/, download),
    route('GET', /^\/files\/info$/, async call => {
      const found = await Promise.all(paths(call).map(async path => [path, await entryOf(path)]))
      return Object.fromEntries(found)
    }),
    route('GET', /^\/files\/search$/, async call => {
      const [folder = '/'] = paths(call)
      const pattern = call.url.searchParams.get('pattern') || '**'
      const names = (await readdir(folder, { recursive: true })).filter(name =>
        picomatch.isMatch(name.split('/').at(-1) ?? '', pattern),
      )
      const found = await Promise.all(names.map(name => entryOf(join(folder, name))))
      return found.filter(({ type }) => type !== 'directory')
    }),
    route('GET', /^\/directories\/list$/, async call => {
      const [folder = '/'] = paths(call)
      return Promise.all((await readdir(folder)).map(name => entryOf(join(folder, name))))
    }),
    route('DELETE', /^\/files$/, async call => {
      for (const path of paths(call)) await rm(path, { force: true })
    }),
    route('DELETE', /^\/directories$/, async call => {
      for (const path of paths(call)) await rm(path, { recursive: true, force: true })
    }),
    route('POST', /^\/files\/mv$/, move),
    route('POST', /^\/files\/permissions$/, async call => {
      const wanted = await jsonOf<Record<string, Permission>>(call.request)
      for (const [path, permission] of Object.entries(wanted)) await setMode(path, permission)
    }),
    route('POST', /^\/directories$/, async call => {
      const wanted = await jsonOf<Record<string, Permission>>(call.request)
      for (const [path, permission] of Object.entries(wanted)) {
        if (await exists(path)) continue
        await mkdir(path, { recursive: true })
        await setMode(path, permission)
      }
    }),
    route('POST', /^\/files\/replace$/, replace),
    route('GET', /^\/metrics$/, async () => {
      const memory = Object.fromEntries((await readFile('/proc/meminfo', 'utf8')).split('\n').map(line => line.split(/:\s+/)))
      const mib = (name: string): number => Math.round(Number.parseInt(memory[name] ?? '0', 10) / 1024)
      const total = mib('MemTotal')
      return {
        cpu_count: 1,
        cpu_used_pct: 0,
        mem_total_mib: total,
        mem_used_mib: total - mib('MemAvailable'),
        timestamp: Date.now(),
      }
    }),
  ]
}

async function upload({ request }: Call): Promise<void> {
  const parts = partsOf(await bodyOf(request), request.headers['content-type'])
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [metadata, file] = [parts[at], parts[at + 1]]
    if (metadata?.name !== 'metadata' || file?.name !== 'file')
      throw new Refusal(400, 'INVALID_FILE_METADATA', 'metadata file is missing')
    const { path, ...permission } = JSON.parse(metadata.body.toString()) as Permission & { path: string }
    await mkdir(dirname(path), { recursive: true })
    const before = await exists(path)
    await writeFile(path, file.body)
    await setMode(path, permission.mode === undefined && !before ? { mode: 755 } : permission)
  }
}

async function download({ url, request, response }: Call): Promise<void> {
  const path = url.searchParams.get('path') ?? ''
  const { size } = await stat(path)
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  const range = from === undefined ? {} : { start: Number(from), ...(to ? { end: Math.min(Number(to), size - 1) } : {}) }
  response.writeHead(from === undefined ? 200 : 206, { 'content-type': 'application/octet-stream' })
  await pipeline(createReadStream(path, range), response)
}

async function move({ request }: Call): Promise<void> {
  for (const { src, dest } of await jsonOf<{ src: string; dest: string }[]>(request)) {
    await stat(src)
    await mkdir(dirname(dest), { recursive: true })
    if (await exists(dest))
      throw new Refusal(500, 'RUNTIME_ERROR', `error accessing file: destination path already exists: ${dest}`)
    await rename(src, dest)
  }
}

async function replace({ request, url }: Call): Promise<unknown> {
  const counts: Record<string, { replacedCount: number }> = {}
  for (const [path, item] of Object.entries(await jsonOf<Record<string, { old: string; new: string }>>(request))) {
    const parts = (await readFile(path, 'utf8')).split(item.old)
    await writeFile(path, parts.join(item.new))
    counts[path] = { replacedCount: parts.length - 1 }
  }
  return url.searchParams.get('verbose') === 'true' ? counts : undefined
}

async function entryOf(path: string): Promise<Record<string, unknown>> {
  const found = await lstat(path)
  const type = found.isSymbolicLink() ? 'symlink' : found.isDirectory() ? 'directory' : found.isFile() ? 'file' : 'other'
  const mode = Number((found.mode & 0o777).toString(8))
  const times = { created_at: found.birthtime.toISOString(), modified_at: found.mtime.toISOString() }
  return { path, type, size: found.size, mode, owner: String(found.uid), group: String(found.gid), ...times }
}

async function setMode(path: string, { mode }: Permission): Promise<void> {
  if (mode) await chmod(path, Number.parseInt(String(mode), 8))
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function fileError({ code, message }: NodeJS.ErrnoException): Refusal {
  if (code === 'ENOENT') return new Refusal(404, 'FILE_NOT_FOUND', `file not found. ${message}`)
  return new Refusal(500, 'RUNTIME_ERROR', `error accessing file: ${message}`)
}
