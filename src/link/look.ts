import type { Environment } from '../backends/backend.ts'
import { toWorkspaceError, WorkspaceError } from '../lib/errors.ts'

/** The oldest major version of Node that the gateway runs on. */
export const OLDEST_NODE = 18
/** Where an image or template may bring the gateway, or a node for it, along. */
export const BAKED_FOLDER = '/opt/atelier'
const LOOK_MS = 30_000

/** What an environment has of what the gateway needs. */
export interface Found {
  /** A node that is new enough. */
  node?: string
  /** The gateway's program, byte for byte. */
  script?: string
  /** Versions of nodes that are too old. */
  old: string[]
  /** As `uname` has them. */
  system: string
  cpu: string
  glibc: boolean
}

export interface Wanted {
  /** Private folder, made when it is missing. */
  dir: string
  /** Name of the program in the folder. */
  name: string
  /** SHA-256 of the program, in hex. */
  hash: string
  /** Suffix of files that were just uploaded; they get their names by a rename. */
  arrived?: string
}

/** Reports the first of the paths that holds the program; run by each node that is found until one is new enough. */
const PROBE = `const fs=require('fs'),[hash,...paths]=process.argv.slice(1),v=process.versions.node
if(parseInt(v)<${OLDEST_NODE}){console.log('old '+v);throw 'too old'}
const has=p=>{try{return require('crypto').createHash('sha256').update(fs.readFileSync(p)).digest('hex')===hash}catch{}}
console.log('node '+process.execPath);const p=paths.find(has);if(p)console.log('script '+p)`

const SCRIPT = `dir=$1 name=$2 hash=$3 probe=$4 arrived=$5
mkdir -p -m 700 "$dir" || exit 1
if [ -n "$arrived" ]; then
  for file in "$dir/$name" "$dir/node"; do [ -f "$file$arrived" ] && chmod 700 "$file$arrived" && mv -f "$file$arrived" "$file"; done
fi
for node in "$(command -v node)" ${BAKED_FOLDER}/node "$dir/node"; do
  [ -n "$node" ] && [ -x "$node" ] && "$node" -e "$probe" "$hash" "$dir/$name" ${BAKED_FOLDER}/gateway.mjs && exit 0
done
for file in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib64/ld-linux-aarch64.so.1; do [ -e "$file" ] && echo glibc; done
echo "system $(uname -s)"
echo "cpu $(uname -m)"`

/** Looks in one round trip which node and which program are there. Throws `unavailable` when the environment can't tell. */
export async function look(environment: Environment, wanted: Wanted, signal: AbortSignal): Promise<Found> {
  const { dir, name, hash, arrived = '' } = wanted
  const argv = ['sh', '-c', SCRIPT, 'sh', dir, name, hash, PROBE, arrived]
  const { exitCode, stdout, stderr } = await environment.exec(argv, { signal, timeoutMs: LOOK_MS })
  const said = Buffer.from(stdout).toString()
  if (exitCode !== 0) {
    const reason = (Buffer.from(stderr).toString().trim() || said.trim()).slice(-300) || `exit code ${exitCode}`
    throw new WorkspaceError('unsupported', `The environment can't run the gateway: ${reason}`, {
      hint: `The image needs a POSIX shell, and a folder ${dir} that can be made and written to.`,
    })
  }
  return parse(said)
}

function parse(text: string): Found {
  const found: Found = { old: [], system: '', cpu: '', glibc: false }
  for (const line of text.split('\n')) {
    const at = line.indexOf(' ')
    const [word, value] = at < 0 ? [line.trim(), ''] : [line.slice(0, at), line.slice(at + 1).trim()]
    if (word === 'old') found.old.push(value)
    else if (word === 'glibc') found.glibc = true
    else if (word === 'node' || word === 'script' || word === 'system' || word === 'cpu') found[word] = value
  }
  return found
}

/** An environment without a node that can be used, and why none can be put in. */
export function noNode({ old, system, cpu, glibc }: Found, cause?: unknown): WorkspaceError {
  const has = old.length === 0 ? 'no node' : `only Node ${old.join(' and ')}`
  const why = cause === undefined ? `${system} ${cpu}${glibc ? '' : ' without glibc'}` : toWorkspaceError(cause).message
  return new WorkspaceError('unsupported', `The environment has ${has}, and none can be put in: ${why}.`, {
    hint: `Use an image or template that has Node ${OLDEST_NODE} or newer.`,
    cause,
  })
}
