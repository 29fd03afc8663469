import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { toWorkspaceError } from '../../lib/errors.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import type { LocalPlace } from './catalogue.ts'
import { runProcess } from './processes.ts'

/** What `local` needs, each with what was found: Node, a writable data directory, a shell, ripgrep. */
export async function probeLocal(place: LocalPlace, options: CallOptions = {}): Promise<ProbeStep[]> {
  return [
    { name: 'node', ok: true, detail: `${process.version} at ${process.execPath}` },
    await dataDirStep(place.dataDir),
    await programStep(
      'shell',
      [
        ['bash', '--version'],
        ['sh', '-c', 'echo sh'],
      ],
      'Install bash.',
      options,
    ),
    {
      ...(await programStep(
        'ripgrep',
        [['rg', '--version']],
        'Without it the built-in search is used, which is slower.',
        options,
      )),
      optional: true,
    },
  ]
}

async function dataDirStep(dataDir: string): Promise<ProbeStep> {
  try {
    await access(await nearest(dataDir), constants.W_OK | constants.X_OK)
    return { name: 'data directory', ok: true, detail: dataDir }
  } catch (error) {
    const detail = `${dataDir} can't be written: ${toWorkspaceError(error).message}`
    return { name: 'data directory', ok: false, detail, hint: 'Set another data directory, or make this one writable.' }
  }
}

async function programStep(name: string, ways: string[][], hint: string, options: CallOptions): Promise<ProbeStep> {
  const refusals: string[] = []
  for (const argv of ways) {
    try {
      const { exitCode, stdout } = await runProcess(argv, '/', { timeoutMs: 5_000, signal: options.signal })
      if (exitCode === 0) return { name, ok: true, detail: Buffer.from(stdout).toString().split('\n', 1)[0] ?? '' }
      refusals.push(`${argv[0]} ended with ${exitCode}`)
    } catch (error) {
      refusals.push(toWorkspaceError(error).message)
    }
  }
  return { name, ok: false, detail: refusals.join(' '), hint }
}

async function nearest(path: string): Promise<string> {
  return (await stat(path).catch(() => undefined)) !== undefined || dirname(path) === path ? path : nearest(dirname(path))
}
