import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, MISSING, onEngine, sh, type World } from './support.ts'

const TAG = 'atelier-test-busybox:latest'
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find(path => existsSync(path))
const WHY = MISSING || (BUSYBOX === undefined ? 'there is no busybox here (apt-get install busybox-static)' : '')

/** Fills `root` with busybox and its commands, this host's node and the libraries that it needs: no bash, no ripgrep. */
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

describe.skipIf(WHY !== '')(
  WHY === '' ? 'docker: an image of busybox and node' : onEngine(`docker: busybox (skipped: ${WHY})`),
  () => {
    let world: World
    beforeAll(async () => {
      world = await createWorld()
      const root = mkdtempSync(join(tmpdir(), 'at-bb-'))
      try {
        fill(root, BUSYBOX ?? '')
        const tar = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
        const [repo, tag] = TAG.split(':')
        const stream = await world.docker.importImage(tar.stdout, { repo, tag } as never)
        await new Promise(resolve => world.docker.modem.followProgress(stream as never, resolve))
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    }, 180_000)
    afterAll(async () => {
      await world?.clear()
      await world?.docker
        .getImage(TAG)
        .remove({ force: true })
        .catch(() => {})
      await world?.remove()
    }, 60_000)

    test('commands run by sh, and files, jobs and searches work without bash and ripgrep', async () => {
      const workspace = await world.open('ws-busybox', { image: TAG })
      expect(await sh(workspace, 'command -v bash || command -v rg || echo neither')).toBe('neither')
      await sh(workspace, 'mkdir -p sub && cd sub && export COLOUR=blue')
      expect(await sh(workspace, 'echo "$PWD $COLOUR"')).toBe('/workspace/sub blue')
      const file = { session: 's', path: '/workspace/sub/a.txt' }
      await workspace.files.write({ ...file, content: 'one\ntwo\n' })
      await workspace.files.edit({ ...file, oldString: 'two', newString: 'zwei', replaceAll: false })
      expect(await sh(workspace, 'cat a.txt')).toBe('one\nzwei')
      expect(JSON.stringify(await workspace.search.grep({ pattern: 'zw.i', mode: 'content' }))).toContain('/workspace/sub/a.txt')
      expect(JSON.stringify(await workspace.search.glob({ pattern: '**/*.txt' }))).toContain('/workspace/sub/a.txt')
      const { job } = await workspace.shell.run({ session: 's', command: 'echo begun; sleep 100', background: true })
      expect((await workspace.shell.killJob({ id: job ?? '' })).status).not.toBe('running')
      const late = await workspace.shell.run({ session: 's', command: 'sleep 987', timeoutMs: 1_000 })
      expect(late.status).toBe('timed_out')
      expect(await sh(workspace, 'ps | grep "[s]leep 987" || echo none-left')).toBe('none-left')
      await workspace.destroy()
    })
  },
)
