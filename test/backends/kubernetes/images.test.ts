import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, failure, IMAGE, MISSING, onCluster, sh, type World } from './support.ts'

/** Folder of the cluster's programs: `load` brings images of the local engine onto its node. */
const TOOLS = process.env.ATELIER_CLUSTER_TOOLS
const WHY = MISSING || (TOOLS === undefined ? 'ATELIER_CLUSTER_TOOLS names no folder with a program that loads images' : '')
const [NO_NODE, OLD_NODE, NO_SHELL, BAKED] = ['no-node', 'old-node', 'no-shell', 'baked'].map(
  name => `atelier-test-k8s-${name}:latest`,
) as [string, string, string, string]

describe.skipIf(WHY !== '')(WHY === '' ? 'kubernetes: images' : onCluster(`kubernetes: images (skipped: ${WHY})`), () => {
  let world: World
  const docker = (...args: string[]) =>
    execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

  /** The test image after a command, with files of this host. */
  function derive(tag: string, command: string, files: Record<string, string> = {}): void {
    const id = docker('create', IMAGE, 'sh', '-c', command)
    for (const [from, to] of Object.entries(files)) docker('cp', from, `${id}:${to}`)
    docker('start', '--attach', id)
    docker('commit', id, tag)
    docker('rm', '--force', id)
  }

  beforeAll(() => {
    world = createWorld()
    derive(NO_NODE, 'rm -f "$(command -v node)"')
    derive(OLD_NODE, 'printf "#!/bin/sh\\necho 12.22.0\\n" > "$(command -v node)"')
    execFileSync('sh', ['-c', `tar -C "$1" -c gateway.mjs | docker import - "$2"`, 'sh', world.base, NO_SHELL], {
      stdio: 'ignore',
    })
    derive(BAKED, 'mkdir -p /opt/atelier; mv /gateway.mjs /opt/atelier; chmod 644 /opt/atelier/gateway.mjs', {
      [world.script]: '/gateway.mjs',
    })
    execFileSync(join(TOOLS ?? '', 'load'), [NO_NODE, OLD_NODE, NO_SHELL, BAKED], { stdio: 'ignore' })
  })
  afterEach(() => world.clear())
  afterAll(() => {
    for (const tag of [NO_NODE, OLD_NODE, NO_SHELL, BAKED]) {
      try {
        docker('rmi', '--force', tag)
      } catch {
        // It was not made.
      }
    }
    world?.remove()
  })

  test.each([
    ['as an ordinary user', {}],
    ['with a read-only root', { securityContext: { readOnlyRootFilesystem: true } }],
  ])('an image without node gets one: %s', async (_, settings) => {
    const workspace = await world.open('ws-node', { image: NO_NODE, ...settings })
    expect(await sh(workspace, 'command -v node || echo none')).toBe('none')
    expect(await sh(workspace, 'echo text > f; cat f; /run/atelier/node --version')).toBe(`text\n${process.version}`)
    await workspace.close()
    const again = await world.open('ws-node', { image: NO_NODE, ...settings })
    expect(await sh(again, 'cat f')).toBe('text')
    await again.destroy()
  })

  test('a node that is too old is passed over', async () => {
    const workspace = await world.open('ws-old', { image: OLD_NODE })
    expect(await sh(workspace, 'node; /run/atelier/node --version')).toBe(`12.22.0\n${process.version}`)
  })

  test('an image without a shell is told as such, and nothing is left', async () => {
    const error = await failure(world.open('ws-none', { image: NO_SHELL }))
    expect([error.code, error.message]).toEqual(['unsupported', expect.stringContaining('ended at its start')])
    expect(error.hint).toContain('sh')
    expect(world.left()).toEqual([])
  })

  test('an image that brings this very gateway along needs no upload', async () => {
    const workspace = await world.open('ws-baked', { image: BAKED })
    expect(await sh(workspace, 'readlink /run/atelier/gateway.mjs')).toBe('/opt/atelier/gateway.mjs')
    expect(await sh(workspace, 'readlink /run/atelier/node')).toMatch(/\/node$/)
  })
})
