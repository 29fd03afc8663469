import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type Dockerode from 'dockerode'

/** Name of the image where a test has no other for it. */
export const TINY_IMAGE = 'atelier-test-tiny:latest'

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find(path => existsSync(path))

/** Why the image can't be made here; empty where it can. */
export const NO_TINY_IMAGE = BUSYBOX === undefined ? 'there is no busybox here (apt-get install busybox-static)' : ''

/** Makes an image of busybox and this host's node, without a registry: no bash, no ripgrep. */
export async function importTinyImage(docker: Dockerode, name: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'at-bb-'))
  try {
    fill(root, BUSYBOX ?? '')
    const tar = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [repo, tag] = name.split(':')
    const stream = await docker.importImage(tar.stdout, { repo, tag } as never)
    await new Promise<void>((resolve, reject) =>
      docker.modem.followProgress(stream as never, error => (error === null ? resolve() : reject(error))),
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Fills `root` with busybox and its commands, this host's node and the libraries that it needs. */
function fill(root: string, busybox: string): void {
  const put = (path: string, to = path) => {
    mkdirSync(join(root, dirname(to)), { recursive: true })
    cpSync(realpathSync(path), join(root, to))
  }
  put(busybox, '/bin/busybox')
  execFileSync('sh', [
    '-c',
    'for name in $("$0" --list); do [ "$name" = busybox ] || ln -s busybox "$1/bin/$name"; done',
    busybox,
    root,
  ])
  put(process.execPath, '/usr/bin/node')
  for (const program of [process.execPath, busybox]) {
    for (const [path] of librariesOf(program).matchAll(/\/\S+/g)) put(path)
  }
  for (const folder of ['tmp', 'etc', 'root']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
}

function librariesOf(program: string): string {
  try {
    return execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).replaceAll(/^.*=> /gm, '')
  } catch {
    return ''
  }
}
