import { randomBytes } from 'node:crypto'
import { BACKEND_NAMES, type Backend, type BackendName, type ProbeStep } from '../backends/backend.ts'
import { failedStep } from '../backends/probe.ts'
import type { Config } from '../config.ts'
import { WorkspaceError } from '../lib/errors.ts'
import { nearest } from '../lib/suggest.ts'
import { configuredBackends, isConfigured, isMeant } from './backends.ts'
import { tryWorkspace } from './try-workspace.ts'
import { WaitingLine, type WaitingOutput } from './waiting-line.ts'

export interface DoctorOptions {
  /** One backend alone; absent: every one that is configured. */
  backend?: string | undefined
  json: boolean
  write(text: string): void
  /** Where a terminal shows what is waited for. */
  output?: WaitingOutput
  /** Ends it early; what was made is removed all the same. */
  signal?: AbortSignal
}

interface Finding {
  backend: BackendName
  steps: ProbeStep[]
}

/** Tries each backend step by step, up to a command in a workspace of its own; resolves to the exit code, 1 when a step failed. */
export async function diagnose(config: Config, options: DoctorOptions): Promise<number> {
  const { backend, json, write, signal, output = { write: () => {} } } = options
  using waiting = new WaitingLine(output)
  const wanted = backend === undefined ? undefined : checkedName(config, backend)
  const shown = (text: string) => {
    waiting.clear()
    if (!json) write(text)
  }
  const { loaded, failed } = await configuredBackends(config)
  const findings: Finding[] = []
  for (const { backend: name, error } of failed) {
    if (wanted !== undefined && name !== wanted) continue
    shown(`${name}\n`)
    findings.push({ backend: name, steps: [told(failedStep('load', error), shown)] })
  }
  for (const one of loaded) {
    if ((wanted !== undefined && one.name !== wanted) || signal?.aborted) continue
    shown(`${one.name}\n`)
    const isNeeded = wanted !== undefined || isMeant(config, one.name)
    const begun = (title: string) => waiting.show(`${one.name}: ${title}`)
    findings.push({ backend: one.name, steps: await examine(one, { config, shown, begun, isNeeded, signal }) })
  }
  waiting.clear()
  if (json) write(`${JSON.stringify(findings, undefined, 2)}\n`)
  return !signal?.aborted && findings.every(({ steps }) => steps.every(step => step.ok || step.optional)) ? 0 : 1
}

interface Examination {
  config: Config
  shown(text: string): void
  /** Called with what is waited for. */
  begun(title: string): void
  /** Whether it is a failure when the backend is not there at all. */
  isNeeded: boolean
  signal: AbortSignal | undefined
}

async function examine(backend: Backend, { config, shown, begun, isNeeded, signal }: Examination): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = []
  const done = (step: ProbeStep) => void steps.push(told(step, shown))
  const probed = (step: ProbeStep) => done(isNeeded || step.ok ? step : { ...step, optional: true })
  begun('is it there')
  try {
    for (const step of await backend.probe({ signal })) probed(step)
  } catch (error) {
    probed(failedStep('probe', error))
  }
  // Without some things a workspace works all the same, only worse; everything else has to hold first.
  const isHopeless = steps.some(step => !step.ok && (!isNeeded || step.optional !== true))
  const name = `doctor-${randomBytes(4).toString('hex')}`
  if (!isHopeless) await tryWorkspace(config, { backend, name, signal }, { begun, done })
  return steps
}

function told(step: ProbeStep, shown: (text: string) => void): ProbeStep {
  const mark = step.ok ? 'ok' : step.optional ? 'note' : 'FAIL'
  const hint = step.ok || step.hint === undefined ? '' : `\n        ${step.hint}`
  shown(`  ${mark.padEnd(4)}  ${step.name}: ${step.detail}${hint}\n`)
  return step
}

function checkedName(config: Config, given: string): BackendName {
  const name = BACKEND_NAMES.find(one => one === given)
  if (name === undefined) {
    const meant = nearest(given, BACKEND_NAMES)
    throw new WorkspaceError('invalid_argument', `There is no backend ${JSON.stringify(given)}.`, {
      hint: meant === undefined ? `There are: ${BACKEND_NAMES.join(', ')}.` : `Did you mean ${meant}?`,
    })
  }
  if (isConfigured(config, name)) return name
  throw new WorkspaceError('precondition_failed', `Backend ${name} is not configured.`, {
    hint: `Add "${name}": {…} to the configuration; docs/${name}.md has the keys.`,
  })
}
