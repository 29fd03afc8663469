import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ProbeStep } from '../../src/backends/backend.ts'
import { diagnose } from '../../src/cli/doctor-command.ts'
import { loadConfig } from '../../src/config.ts'
import type { FaultRule } from '../stand-ins/shared/faults.ts'
import { BACKENDS } from '../support/backends.ts'
import { startAtelier } from '../support/server.ts'
import { createWorld, type World } from '../support/world.ts'
import { FAULTS } from './doctor-faults.ts'

const LIMIT_MS = 120_000
const TRY = ['create', 'gateway', 'echo', 'latency', 'delete']
const PROBES: Readonly<Record<string, readonly string[]>> = {
  local: ['node', 'data directory', 'shell'],
  docker: ['reachable', 'image'],
  kubernetes: ['configured', 'reachable', 'authorised', 'rights', 'image'],
  e2b: ['configured', 'reachable', 'authorised', 'template'],
  daytona: ['configured', 'reachable', 'authorised', 'snapshot'],
  opensandbox: ['configured', 'reachable', 'authorised', 'image'],
}

describe.each(Object.entries(BACKENDS))('doctor: %s', { timeout: LIMIT_MS }, (name, backend) => {
  const missing = backend.unavailable()
  let world: World
  let well: Record<string, string>
  let before: string[]

  beforeAll(async () => {
    if (missing !== undefined) return
    world = createWorld()
    well = { ...world.env, ...backend.env(world) }
    before = await backend.left(world)
  }, LIMIT_MS)
  afterAll(async () => {
    if (missing !== undefined) return
    await backend.clear(world)
    await world.dispose()
  }, LIMIT_MS)

  const skipped = missing === undefined ? '' : ` (skipped: ${missing})`
  test.skipIf(missing !== undefined)(`finds it sound, step by step, and leaves nothing behind${skipped}`, async () => {
    const program = startAtelier(world, { args: ['doctor', name, '--json'], env: well })
    const { code } = await program.ended
    const [finding] = JSON.parse(program.stdout()) as { backend: string; steps: ProbeStep[] }[]
    expect(finding?.backend).toBe(name)
    // Without ripgrep it works all the same.
    const steps = finding?.steps.filter(step => step.name !== 'ripgrep') ?? []
    expect(steps.filter(({ ok }) => !ok)).toEqual([])
    expect(steps.map(step => step.name)).toEqual([...(PROBES[name] ?? []), ...TRY])
    expect(code).toBe(0)
    expect(await backend.left(world)).toEqual(before)
  })

  const service = () => well.E2B_API_URL ?? well.DAYTONA_API_URL?.replace(/\/api$/, '') ?? `http://${well.OPEN_SANDBOX_DOMAIN}`
  const control = (method: string, rule?: FaultRule) =>
    fetch(`${service()}/__faults`, { method, ...(rule === undefined ? {} : { body: JSON.stringify(rule) }) })

  const faults = (FAULTS[name] ?? []).map(fault => [fault.what, fault] as const)
  test.skipIf(missing !== undefined).each(faults)('tells what is wrong, with the remedy: %s', async (_, fault) => {
    const { env = {}, rules = [], step, says, remedy } = fault
    const all = Object.fromEntries(Object.entries({ ...well, ...env }).filter(([, value]) => value !== undefined))
    const config = loadConfig({ mode: 'http', env: { ...all, ATELIER_LOG_LEVEL: 'silent' }, cwd: world.project })
    for (const rule of rules) await control('POST', rule)
    let out = ''
    const code = await diagnose(config, { backend: name, json: true, write: text => (out += text) }).finally(async () => {
      if (rules.length > 0) await control('DELETE')
    })
    const [finding] = JSON.parse(out) as { steps: ProbeStep[] }[]
    expect(finding?.steps.filter(({ ok }) => !ok)).toEqual([
      { name: step, ok: false, detail: expect.stringMatching(says), hint: expect.stringMatching(remedy) },
    ])
    // After it nothing is tried, but what was made is removed.
    expect(finding?.steps.at(-1)?.name).toBe(step === 'gateway' ? 'delete' : step)
    expect(code).toBe(1)
    for (const key of [well.E2B_API_KEY, well.DAYTONA_API_KEY, well.OPEN_SANDBOX_API_KEY])
      if (key !== undefined) expect(out).not.toContain(key)
    if (step === 'create' || step === 'gateway') expect(await backend.left(world)).toEqual(before)
  })

  if (name !== 'e2b') return
  test.skipIf(missing !== undefined)('interrupted in the midst of making, it still leaves nothing', async () => {
    await control('POST', { match: 'POST /v2/sandboxes$', latencyMs: 1_500 })
    const program = startAtelier(world, { args: ['doctor', name], env: well })
    await vi.waitFor(() => expect(program.stdout()).toContain('ok    template'), LIMIT_MS)
    program.child.kill('SIGINT')
    expect(await program.ended).toEqual({ code: 1, signal: null })
    expect(program.stdout()).toMatch(/FAIL {2}create: It was interrupted\.\n {2}ok {4}delete: /)
    expect(await backend.left(world)).toEqual(before)
  })
})
