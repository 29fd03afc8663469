import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, MISSING, onEngine, sh, type World } from './support.ts'
import { importTinyImage, NO_TINY_IMAGE } from './tiny-image.ts'

const TAG = 'atelier-test-busybox:latest'
const WHY = MISSING || NO_TINY_IMAGE

describe.skipIf(WHY !== '')(
  WHY === '' ? 'docker: an image of busybox and node' : onEngine(`docker: busybox (skipped: ${WHY})`),
  () => {
    let world: World
    beforeAll(async () => {
      world = await createWorld()
      await importTinyImage(world.docker, TAG)
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
