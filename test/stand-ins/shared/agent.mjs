// Runs inside a stand-in's sandbox: starts processes and touches files for the stand-in outside, over a unix socket.
// One connection is one process or one file request. Frames both ways: u32 length, one letter, payload.
import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream, promises as fs, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

const [socketPath = ''] = process.argv.slice(2)
const HEADER = 5
/** What was started here and is remembered: its child, and the connection that hears of it. */
const running = new Map()
const REMEMBERED_MS = 30_000

function frame(letter, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(HEADER)
  head.writeUInt32BE(payload.length)
  head.write(letter, 4, 'latin1')
  return Buffer.concat([head, payload])
}
const json = value => frame('J', Buffer.from(JSON.stringify(value)))

/** Calls `take` for each frame; a promise that it gives back holds up the next ones. */
function readFrames(socket, take) {
  let kept = Buffer.alloc(0)
  let busy = Promise.resolve()
  socket.on('data', chunk => {
    socket.pause()
    busy = busy.then(async () => {
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      let at = 0
      while (kept.length - at >= HEADER) {
        const size = kept.readUInt32BE(at)
        if (kept.length - at - HEADER < size) break
        const letter = String.fromCharCode(kept[at + 4])
        await take(letter, kept.subarray(at + HEADER, at + HEADER + size))
        at += HEADER + size
      }
      kept = kept.subarray(at)
      socket.resume()
    })
  })
}

/** Writes as fast as the reader takes it. */
const send = (socket, data) =>
  new Promise(resolve => {
    if (socket.destroyed || socket.write(data)) resolve()
    else {
      const done = () => {
        socket.off('drain', done).off('close', done)
        resolve()
      }
      socket.on('drain', done).on('close', done)
    }
  })

function startProcess(socket, { argv, cwd, env, stdin }) {
  const child = spawn(argv[0], argv.slice(1), {
    ...{ cwd, env, detached: true },
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  const entry = { child, argv, cwd, env, socket, exit: undefined }
  child.once('error', error => socket.end(json({ error: { code: error.code ?? 'EIO', message: error.message } })))
  if (child.pid === undefined) return undefined
  running.set(child.pid, entry)
  child.stdin?.on('error', () => {})
  const forward = (letter, stream) =>
    stream.on('data', async chunk => {
      if (entry.socket.destroyed) return
      stream.pause()
      await send(entry.socket, frame(letter, chunk))
      stream.resume()
    })
  forward('O', child.stdout)
  forward('E', child.stderr)
  child.once('close', (code, signal) => {
    entry.exit = { code, signal }
    entry.socket.end(frame('X', Buffer.from(JSON.stringify(entry.exit))))
    setTimeout(() => running.delete(child.pid), REMEMBERED_MS).unref()
  })
  socket.write(json({ pid: child.pid }))
  return entry
}

function attachProcess(socket, { pid }) {
  const entry = running.get(pid)
  if (entry === undefined) return socket.end(json({ error: { code: 'ESRCH', message: `no process ${pid}` } })) && undefined
  socket.write(json({ pid }))
  if (entry.exit !== undefined) socket.end(frame('X', Buffer.from(JSON.stringify(entry.exit))))
  else entry.socket = socket
  return entry
}

async function input({ child }, letter, payload) {
  if (child.stdin === null) return
  if (letter === 'C') child.stdin.end()
  else if (letter === 'I') await send(child.stdin, payload)
}

const describe = async path => {
  const info = await fs.lstat(path)
  const link = info.isSymbolicLink() ? await fs.readlink(path) : undefined
  const type = link !== undefined ? 'symlink' : info.isDirectory() ? 'dir' : 'file'
  const { size, mode, uid, gid, mtimeMs } = info
  return { path, type, size, mode: mode & 0o7777, uid, gid, mtimeMs, ...(link === undefined ? {} : { link }) }
}

async function listFolder(path, depth) {
  const found = []
  for (const name of readdirSync(path).sort()) {
    const entry = await describe(join(path, name))
    found.push(entry)
    if (entry.type === 'dir' && depth > 1) found.push(...(await listFolder(entry.path, depth - 1)))
  }
  return found
}

function signalProcess({ pid, signal, group }) {
  process.kill(group ? -pid : pid, signal)
  return {}
}

const requests = {
  ping: async () => ({}),
  processes: async () =>
    [...running].filter(([, { exit }]) => exit === undefined).map(([pid, { argv, cwd, env }]) => ({ pid, argv, cwd, env })),
  signal: async request => signalProcess(request),
  stat: ({ path }) => describe(path),
  list: ({ path, depth = 1 }) => listFolder(path, depth),
  mkdir: async ({ path }) => ({ made: (await fs.mkdir(path, { recursive: true })) !== undefined }),
  move: async ({ from, to }) => void (await fs.rename(from, to)),
  remove: async ({ path }) => void rmSync(path, { recursive: true, force: true }),
  user: async ({ name }) => userOf(name),
}

function userOf(name) {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = lines.find(each => each.startsWith(`${name}:`))?.split(':')
  if (line === undefined) throw Object.assign(new Error(`no user ${name}`), { code: 'ENOUSER' })
  return { uid: Number(line[2]), gid: Number(line[3]), home: line[5] }
}

async function readFile(socket, { path }) {
  const info = await fs.stat(path)
  if (info.isDirectory()) throw Object.assign(new Error(`${path} is a directory`), { code: 'EISDIR' })
  socket.write(json({ size: info.size }))
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) await send(socket, frame('O', chunk))
  socket.end(frame('X'))
}

/** The whole file comes in frames; the answer follows the last. */
function writeFile(socket, { path, mode }) {
  const ready = fs.mkdir(dirname(path), { recursive: true }).then(() => createWriteStream(path))
  let done
  const answer = ready.then(file => {
    done = new Promise((resolve, reject) => file.once('close', resolve).once('error', reject))
    return done
  })
  answer.then(
    async () => {
      if (mode !== undefined) await fs.chmod(path, mode)
      socket.end(json({ result: {} }))
    },
    error => socket.end(json({ error: { code: error.code, message: error.message } })),
  )
  return {
    async take(letter, payload) {
      const file = await ready.catch(() => undefined)
      if (letter === 'I') await (file && !file.destroyed && send(file, payload))
      else if (letter === 'C') file?.end()
    },
  }
}

async function begin(socket, request) {
  try {
    if (request.op === 'spawn') return startProcess(socket, request)
    if (request.op === 'attach') return attachProcess(socket, request)
    if (request.op === 'write') return writeFile(socket, request)
    if (request.op === 'read') return void (await readFile(socket, request))
    socket.end(json({ result: (await requests[request.op](request)) ?? {} }))
  } catch (error) {
    socket.end(json({ error: { code: error.code ?? 'EIO', message: error.message } }))
  }
}

rmSync(socketPath, { force: true })
const server = createServer({ allowHalfOpen: true }, socket => {
  let target
  socket.on('error', () => socket.destroy())
  readFrames(socket, async (letter, payload) => {
    if (letter === 'J') target = await begin(socket, JSON.parse(payload.toString()))
    else if (target?.take !== undefined) await target.take(letter, payload)
    else if (target !== undefined) await input(target, letter, payload)
  })
  // A stand-in that went leaves the process as it is; what it writes then is read and thrown away.
  socket.once('end', () => socket.end())
})
server.listen(socketPath, () => void fs.chmod(socketPath, 0o666))
process.on('SIGTERM', () => process.exit(0))
