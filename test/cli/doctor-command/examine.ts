import type { ProbeStep } from '../../../src/backends/backend.ts'
import { diagnose } from '../../../src/cli/doctor-command.ts'
import { loadConfig } from '../../../src/config.ts'
import { OWNER } from '../../backends/support.ts'
import type { Ward } from './wards.ts'

export interface ExamineOptions {
  /** Variables over those of a backend that is well. */
  env?: Record<string, string>
  /** Settings over those of a service that is well. */
  settings?: object | undefined
  signal?: AbortSignal
  /** Called with each step that begins. */
  begun?(title: string): unknown
}

/** What `atelier doctor NAME --json` says, and its exit code. */
export interface Report {
  code: number
  steps: ProbeStep[]
  /** All that it wrote. */
  text: string
}

/** Asks the doctor about the backend. */
export async function examine(ward: Ward, { env = {}, settings = {}, signal, begun }: ExamineOptions = {}): Promise<Report> {
  const variables = {
    ...ward.host.env,
    ...settingsOf(ward, settings),
    ATELIER_USER: OWNER.user,
    ATELIER_LOG_LEVEL: 'silent',
    ...env,
  }
  const config = loadConfig({ mode: 'http', env: variables, cwd: ward.host.project })
  let text = ''
  const write = (part: string): unknown => begun?.(/: ([a-z ]+) \(0 s\)$/.exec(part)?.[1] ?? '')
  const code = await diagnose(config, {
    ...{ backend: ward.name, json: true, write: part => (text += part), output: { isTTY: true, write } },
    ...(signal === undefined ? {} : { signal }),
  })
  const [finding] = JSON.parse(text) as { steps: ProbeStep[] }[]
  return { code, steps: finding?.steps ?? [], text }
}

function settingsOf({ name, settings }: Ward, more: object): Record<string, string> {
  const { dataDir, host, image, ...own } = settings as { dataDir?: string; host?: string; image?: string }
  return {
    ATELIER_BACKEND: name,
    ...(dataDir === undefined ? {} : { ATELIER_DATA_DIR: dataDir }),
    ...(image === undefined ? {} : { ATELIER_IMAGE: image }),
    ...(name === 'docker'
      ? { ATELIER_DOCKER_HOST: host ?? '' }
      : { [`ATELIER_${name.toUpperCase()}`]: JSON.stringify({ ...own, ...more }) }),
  }
}
