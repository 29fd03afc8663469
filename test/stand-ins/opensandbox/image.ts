import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/** The image that the server takes execd from. */
export const EXECD_IMAGE = 'atelier-execd:latest'
const LABEL = 'atelier.execd.hash'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const docker = (...argv: string[]): string =>
  execFileSync('docker', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** The stand-in of execd as one file that Node runs. */
export function execdProgram(): Uint8Array {
  const built = buildSync({
    entryPoints: [here('execd/main.ts')],
    ...{ bundle: true, platform: 'node', target: 'node20', format: 'cjs', write: false, legalComments: 'none' },
    external: ['bufferutil', 'utf-8-validate'],
    banner: { js: '#!/usr/bin/env node' },
  })
  return built.outputFiles[0]?.contents ?? new Uint8Array()
}

/** Makes the image out of `base` with the stand-in as its execd, unless it is there in this version. Needs an engine, no registry. */
export function makeExecdImage(base: string): void {
  const program = execdProgram()
  const hash = createHash('sha256')
    .update(program)
    .update(readFileSync(here('execd/bootstrap.sh')))
    .digest('hex')
  if (labelOf(EXECD_IMAGE) === hash) return
  const folder = mkdtempSync(join(tmpdir(), 'atelier-execd-'))
  const container = docker('create', '--label', `${LABEL}=${hash}`, base, 'true')
  try {
    writeFileSync(join(folder, 'execd'), program)
    copyFileSync(here('execd/bootstrap.sh'), join(folder, 'bootstrap.sh'))
    for (const name of ['execd', 'bootstrap.sh']) {
      chmodSync(join(folder, name), 0o755)
      docker('cp', join(folder, name), `${container}:/${name}`)
    }
    docker('commit', '--change', `LABEL ${LABEL}=${hash}`, container, EXECD_IMAGE)
  } finally {
    docker('rm', '--force', container)
    rmSync(folder, { recursive: true, force: true })
  }
}

function labelOf(image: string): string | undefined {
  try {
    return docker('image', 'inspect', '--format', `{{index .Config.Labels "${LABEL}"}}`, image)
  } catch {
    return undefined
  }
}
