import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { onAbort } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, UploadFile } from '../backend.ts'
import { nodeFor } from '../host/node-for.ts'
import type { Cluster } from './cluster.ts'
import { exitCodeOf, startExec } from './exec.ts'
import type { ExecStream } from './exec-stream.ts'
import { OLDEST_NODE, PUT_IN } from './program.ts'

const NPM_CPU: Readonly<Record<string, string>> = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' }
const STDERR_BYTES = 2_000
/** A slow line may need minutes for a node of 100 MB. */
const LIMIT_MS = 300_000

/** What the image has of what the gateway needs. */
interface Inside {
  node?: string
  script?: string
  old: string[]
  system: string
  cpu: string
  glibc: boolean
}

interface PutInOptions extends CallOptions {
  /** The gateway. */
  program: UploadFile | undefined
  image: string
  /** Folder of this host for a downloaded node. */
  cacheFolder: string
}

type Sending = { program: UploadFile } & Pick<PutInOptions, 'image' | 'cacheFolder'>

/** Makes sure that a running Pod has a gateway and a node for it, which starts it; does nothing where it has. One exec. */
export async function putIn(cluster: Cluster, pod: string, { program, image, cacheFolder, signal }: PutInOptions): Promise<void> {
  if (program === undefined) throw new WorkspaceError('internal', `Pod ${pod}: no gateway was given to put in.`)
  const hash = createHash('sha256').update(program.data).digest('hex')
  let said = ''
  const onStderr = (part: Buffer) => {
    said = `${said}${part}`.slice(-STDERR_BYTES)
  }
  const stream = await startExec(cluster, pod, { argv: ['sh', '-c', PUT_IN, 'sh', hash], onStderr, signal })
  const off = onAbort(signal, reason => stream.destroy(reason))
  const timer = setTimeout(
    () => stream.destroy(new WorkspaceError('timeout', `Pod ${pod}: the gateway was not put in.`)),
    LIMIT_MS,
  )
  try {
    await converse(stream, { program, image, cacheFolder })
    if (exitCodeOf(stream.status, `Pod ${pod}`) === 0) return
    throw new WorkspaceError('unavailable', `Pod ${pod}: the gateway could not be put in: ${said.trim()}`, {
      hint: `The image needs a POSIX shell with head, mkdir, mv and tail, and a user that may write to the Pod's own folder.`,
    })
  } finally {
    clearTimeout(timer)
    off()
    stream.destroy()
  }
}

async function converse(stream: ExecStream, options: Sending): Promise<void> {
  const found: Inside = { old: [], system: '', cpu: '', glibc: false }
  const broken = new Promise<never>((_, reject) => stream.once('error', reject))
  const work = async () => {
    // Read to its end, so that the stream closes.
    for await (const line of createInterface({ input: stream })) {
      if (line !== 'send') note(found, line)
      else await send(stream, found, options)
    }
  }
  // Readline would swallow an error of its input.
  await Promise.race([work(), broken])
  broken.catch(() => {})
}

function note(found: Inside, line: string): void {
  const [word = '', value = ''] = /^(\S+)(?: (.*))?$/.exec(line)?.slice(1) ?? []
  if (word === 'old') found.old.push(value)
  else if (word === 'glibc') found.glibc = true
  else if (word === 'node' || word === 'script' || word === 'system' || word === 'cpu') found[word] = value
}

async function send(stream: ExecStream, found: Inside, { program, image, cacheFolder }: Sending): Promise<void> {
  const node = found.node === undefined ? await nodeToPutIn(found, image, cacheFolder) : undefined
  const data = found.script === undefined ? program.data : Buffer.alloc(0)
  stream.write(`${node?.size ?? 0} ${data.length}\n`)
  const parts = Readable.from(bytes(node?.file, data), { objectMode: false })
  parts.pipe(stream)
  // The other end hangs up as soon as it has all, which may be before the end was sent.
  await Promise.race([
    once(stream, 'finish'),
    once(stream, 'close'),
    once(parts, 'error').then(([error]) => Promise.reject(error)),
  ])
}

async function* bytes(file: string | undefined, data: Uint8Array): AsyncIterable<Uint8Array> {
  if (file !== undefined) yield* createReadStream(file, { highWaterMark: 1024 ** 2 })
  if (data.length > 0) yield data
}

async function nodeToPutIn({ cpu, system, glibc, old }: Inside, image: string, cacheFolder: string) {
  const name = NPM_CPU[cpu]
  if (system === 'Linux' && glibc && name !== undefined) return nodeFor(name, cacheFolder)
  const has = old.length === 0 ? 'no node' : `only Node ${old.join(' and ')}`
  const why = glibc || name === undefined ? `it is for ${system} ${cpu}` : 'it has no glibc to run another one on'
  throw new WorkspaceError('unsupported', `The image ${JSON.stringify(image)} has ${has}, and ${why}.`, {
    hint: `Use an image that has Node ${OLDEST_NODE} or newer (on Alpine: apk add nodejs).`,
  })
}
