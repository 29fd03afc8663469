import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EnvironmentInfo } from '../../../src/backends/backend.ts'
import { DEFAULT_HEARTBEAT } from '../../../src/gateway/wire-heartbeat.ts'
import { WorkspaceError } from '../../../src/lib/errors.ts'
import type { Workspace } from '../../../src/workspace/workspace.ts'
import { addCallFault, type CallFaultName } from '../../backends/faults/calls.ts'
import { FAULTS, type FaultName, type Row as MatrixRow } from '../../backends/faults/matrix.ts'
import { type FaultPlace, openIn } from '../../backends/faults/place.ts'
import { OWNER, sh } from '../../backends/support.ts'
import { type ExamineOptions, examine, type Report } from './examine.ts'
import { type Meeting, ROWS, type Told } from './rows.ts'
import { type Ward, Wards } from './wards.ts'

const SOON = { timeout: 30_000, interval: 100 }
/** In place of the 45 s after which a host takes a silent stream for dead. */
const BRISK = { intervalMs: 1_000, deadMs: 3_000 }
const LIMIT_MS = 120_000
/** What is told after a step of making it failed may be that nobody knows what is left. */
const AFTER = {
  name: 'delete',
  ok: false,
  detail: expect.stringContaining('may be left'),
  hint: expect.stringContaining('prune'),
}

interface Case {
  name: FaultName
  meets: Meeting
  /** `undefined`: it finds nothing wrong. */
  told: Told | undefined
}

/** Every fault of the matrix that may happen to a doctor on one backend; so many at a time, each with a service of its own. */
export function runDoctor(place: FaultPlace, { atOnce = 3 }: { atOnce?: number } = {}): void {
  const title = `doctor: the faults of ${place.name}${place.missing === '' ? '' : ` (skipped: ${place.missing})`}`
  describe.skipIf(place.missing !== '')(title, { timeout: LIMIT_MS, concurrent: true }, () => {
    const usual = { ...DEFAULT_HEARTBEAT }
    const wards = new Wards(place, atOnce)
    beforeAll(async () => {
      Object.assign(DEFAULT_HEARTBEAT, BRISK)
      await wards.open()
    }, LIMIT_MS)
    afterAll(async () => {
      await wards[Symbol.asyncDispose]()
      Object.assign(DEFAULT_HEARTBEAT, usual)
    }, LIMIT_MS)

    const cases = casesOf(place.name)
    for (const each of cases.filter(({ told }) => told !== undefined)) {
      test(`tells of ${each.name}`, async () => {
        const report = await wards.use(ward => meet(ward, [each]))
        const { step, says, remedy } = each.told as Told
        const hint = remedy === undefined ? {} : { hint: expect.stringMatching(remedy) }
        const [first, ...others] = report.steps.filter(({ ok }) => !ok)
        expect(first).toEqual({ name: step, ok: false, detail: expect.stringMatching(says), ...hint })
        expect(others).toEqual(others.map(() => AFTER))
        expect(report.code).toBe(1)
      })
    }
    for (const together of rounds(cases.filter(({ told }) => told === undefined))) {
      test(`finds nothing wrong in spite of ${together.map(({ name }) => name).join(', ')}`, async () => {
        const { steps, code } = await wards.use(ward => meet(ward, together))
        expect(steps.filter(({ ok }) => !ok)).toEqual([])
        expect(steps.at(-1)?.name).toBe('delete')
        expect(code).toBe(0)
      })
    }
  })
}

/** The faults that exist there. What the doctor is to say follows from what the matrix says of a call. */
function casesOf(place: FaultPlace['name']): Case[] {
  return (Object.entries(FAULTS) as [FaultName, MatrixRow][]).flatMap(([name, row]) => {
    const { meets, told, tells } = ROWS[name]
    const { kind } = row[place]
    if (kind === 'absent' || meets.kind === 'never') return []
    if (kind === 'fails' && told === undefined) throw new Error(`What is the doctor to say of ${name} on ${place}?`)
    return [{ name, meets, told: tells?.[place] ?? (kind === 'fails' ? told?.[place] : undefined) }]
  })
}

/** Runs in which several faults are met, at most one of each kind: they stand in nobody's way. */
function rounds(cases: readonly Case[]): Case[][] {
  const kinds = (['call', 'mode', 'stream', 'deed'] as const).map(kind => cases.filter(({ meets }) => meets.kind === kind))
  const longest = Math.max(...kinds.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => kinds.flatMap(all => all[at] ?? []))
}

/** Lets the doctor meet them, and sees that they happened, that nothing is left and no key was printed. */
async function meet(ward: Ward, cases: readonly Case[]): Promise<Report> {
  const hooks: (() => void)[] = []
  const options: ExamineOptions = { begun: title => title === 'echo' && hooks.splice(0).forEach(run => void run()) }
  const inBackground = cases.map(one => prepare(ward, one, { options, hooks }))
  const before = ward.faults.struck
  const report = await examine(ward, options)
  await Promise.all(inBackground)
  if (cases.every(({ told }) => told === undefined)) expect([...hooks, ...unmet(ward)]).toEqual([])
  if (cases.some(strikes)) expect(ward.faults.struck).toBeGreaterThan(before)
  if (ward.secret !== undefined) expect(report.text).not.toContain(ward.secret)
  ward.faults.clear()
  await vi.waitFor(async () => expect(await ward.left()).toEqual([]), SOON)
  return report
}

const strikes = ({ meets }: Case) => meets.kind === 'stream' && meets.rules.some(({ onStrike }) => onStrike !== undefined)

/** What misbehaves only as often as it was told, and has not done so. */
const unmet = ({ faults }: Ward) => faults.list().filter(({ times = 1 }) => times < 9)

interface Hooks {
  options: ExamineOptions
  /** Called when the doctor's command begins. */
  hooks: (() => void)[]
}

function prepare(ward: Ward, { name, meets }: Case, { options, hooks }: Hooks): Promise<void> | undefined {
  const { faults } = ward
  if (meets.kind === 'mode') faults.modes = meets.modes
  if (meets.kind === 'call') addCallFault(ward, name as CallFaultName)
  if (meets.kind === 'call' && meets.gaveUp) return giveUp(ward, options)
  if (meets.kind === 'deed') return behind(ward, meets.deed, options)
  if (meets.kind !== 'stream') return undefined
  const add = (rule: object) => faults.add({ match: ward.requests.stream, ...rule })
  meets.rules.forEach(add)
  options.settings = meets.settings
  const { strike } = meets
  if (strike === undefined) return undefined
  hooks.push(() => {
    expect(unmet(ward)).toEqual([])
    faults.clear()
    strike.forEach(add)
    faults.strike()
  })
  return undefined
}

/** Interrupts the doctor as soon as the fault has it. */
async function giveUp({ faults }: Ward, options: ExamineOptions): Promise<void> {
  const controller = new AbortController()
  options.signal = controller.signal
  await vi.waitFor(() => expect(faults.list()).toEqual([]), { ...SOON, interval: 10 })
  controller.abort(new WorkspaceError('cancelled', 'It was interrupted.'))
}

/** Does it while the doctor's command runs, which does not end by itself. */
async function behind(ward: Ward, deed: 'paused' | 'expired' | 'removed', options: ExamineOptions): Promise<void> {
  options.env = { ATELIER_ENV: JSON.stringify({ 'BASH_FUNC_echo%%': '() { touch begun; sleep 300; }' }) }
  const info = await new Promise<EnvironmentInfo>((resolve, reject) => {
    options.begun = title => {
      if (title === 'echo') only(ward).then(resolve, reject)
      if (title === 'delete') reject(new Error('The command never began.'))
    }
  })
  const other = await openIn(ward, info.id)
  await vi.waitFor(async () => expect(await sh(other, 'ls begun')).toBe('begun'), SOON)
  await other.detach()
  await ward.deeds[deed]?.({ info } as unknown as Workspace)
}

async function only(ward: Ward): Promise<EnvironmentInfo> {
  for await (const info of ward.backend().list({ user: OWNER.user })) return info
  throw new Error('There is no environment.')
}
