import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { MarkedProcesses } from '../../../src/gateway/commands/tree-end.ts'
import { endOrphans, orphanMark } from '../../../src/gateway/nested/orphans.ts'

describe.runIf(process.platform === 'linux')('nested servers whose gateway is not there', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  async function sleeper(mark: string): Promise<ChildProcess> {
    const child = spawn('sleep', ['600'], { env: { PATH: process.env.PATH, ATELIER_RUN: mark }, stdio: 'ignore' })
    children.push(child)
    await once(child, 'spawn')
    return child
  }
  const gone = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
  /** The mark of a gateway that is dead: this process, but for its start. */
  function dead(place?: string): string {
    const [prefix, pid, , own, random] = orphanMark().split('-')
    return [prefix, pid, '1', place ?? own, random].join('-')
  }

  it('are ended where it was killed, and left alone where it lives', async () => {
    const [orphan, own] = [await sleeper(dead()), await sleeper(orphanMark())]
    await endOrphans(new MarkedProcesses())
    if (!gone(orphan)) await once(orphan, 'exit')
    expect(orphan.signalCode).toBe('SIGTERM')
    expect(gone(own)).toBe(false)
  })

  it('are left alone in containers, whose gateways have other process ids in there', async () => {
    const [orphan, contained] = [await sleeper(dead()), await sleeper(dead('4026599999'))]
    await endOrphans(new MarkedProcesses())
    if (!gone(orphan)) await once(orphan, 'exit')
    expect(gone(contained)).toBe(false)
  })
})
