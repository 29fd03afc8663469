import type { JobInfo } from '../gateway/protocol.ts'
import { jobLine } from './job-text.ts'
import { count, formatBytes, formatDuration } from './units.ts'
import type { RemovalPlan, WorkspaceSummary, WorkspaceUse } from './workspace-directory.ts'

const SHOWN_JOBS = 50
const ENDED_JOBS = 10
/** Limits that no call of an agent meets. */
const INNER_LIMITS = new Set(['graceMs', 'gatewayIdleMs', 'reconnectMs'])

/** A workspace in one line. */
export function summaryLine(summary: WorkspaceSummary): string {
  const current = summary.current ? ', current' : ''
  return `${summary.name} (${summary.backend}, ${summary.state}${current}): ${summary.workdir}, id ${summary.id}`
}

/** All that is known of a workspace, a fact a line. */
export function statusText(summary: WorkspaceSummary, use: WorkspaceUse | undefined): string {
  const facts: [string, string | undefined][] = [
    ['id', summary.id],
    ['backend', summary.image === undefined ? summary.backend : `${summary.backend}, image ${summary.image}`],
    ['directory', `${summary.workdir}${summary.madeByAtelier ? '' : " (the user's own)"}`],
    ["Atelier's folders", summary.root === summary.workdir ? 'in the directory' : summary.root || undefined],
    ['created', summary.createdAt || undefined],
    ...Object.entries(summary.details).filter(([name]) => name !== 'image' || summary.image === undefined),
    ...useFacts(use),
  ]
  const known = facts.filter(fact => fact[1] !== undefined).map(([name, value]) => `${name}: ${value}`)
  return [`${summary.name}: ${summary.state}${summary.current ? ' (current)' : ''}`, ...known].join('\n')
}

function useFacts(use: WorkspaceUse | undefined): [string, string | undefined][] {
  if (use === undefined) return []
  const limits = Object.entries(use.limits)
    .filter(([key]) => !INNER_LIMITS.has(key))
    .map(limitText)
  return [
    ['jobs', [`${use.jobsRunning} running`, ...recentJobs(use.jobs ?? [])].join('\n')],
    ['MCP servers', `${use.serversRunning} running`],
    ['cpu', use.cpuPercent === undefined ? undefined : `${Math.round(use.cpuPercent)} %`],
    ['memory', memoryText(use)],
    ['disk', use.diskFreeBytes === undefined ? undefined : `${formatBytes(use.diskFreeBytes)} free`],
    ['limits', limits.length === 0 ? undefined : limits.join(', ')],
  ]
}

/** The jobs in a line each: what runs, then what ended last. */
function recentJobs(jobs: readonly JobInfo[]): string[] {
  const running = jobs.filter(job => job.status === 'running')
  const over = jobs.filter(job => job.status !== 'running').sort((a, b) => (a.endedAt ?? '').localeCompare(b.endedAt ?? ''))
  return [...running, ...over.slice(-ENDED_JOBS).reverse()].slice(0, SHOWN_JOBS).map(job => `- ${jobLine(job)}`)
}

/** `softLimitMs: 45000` → `soft limit 45 s`. */
function limitText([key, value]: [string, string | number]): string {
  const [, name = key, unit] = /^(.*?)(Ms|Bytes|Chars)?$/.exec(key) ?? []
  const words = name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  if (typeof value !== 'number') return `${words} ${value}`
  if (unit === 'Ms') return `${words} ${formatDuration(value)}`
  if (unit === 'Bytes') return `${words} ${formatBytes(value)}`
  return unit === 'Chars' ? `${words} ${count(value, 'character')}` : `${words} ${value}`
}

function memoryText({ memoryBytes, memoryLimitBytes }: WorkspaceUse): string | undefined {
  if (memoryBytes === undefined) return undefined
  return `${formatBytes(memoryBytes)}${memoryLimitBytes === undefined ? '' : ` of ${formatBytes(memoryLimitBytes)}`}`
}

/** The list of all workspaces. */
export function listText(summaries: readonly WorkspaceSummary[]): string {
  if (summaries.length === 0) return 'There are no workspaces yet; the first call that needs one makes it, or workspace_create.'
  return [...summaries.map(summaryLine), `[${count(summaries.length, 'workspace')}]`].join('\n')
}

/** What a removal would do, or did. `confirm` names the tool to call again; absent: it is done. */
export function planText(plan: RemovalPlan, verb: { would: string; done: string }, confirm?: string): string {
  const { name } = plan.summary
  const head = confirm === undefined ? `${verb.done} ${name}.` : `${verb.would} ${name} has not been done yet.`
  const goes = section(confirm === undefined ? 'Removed:' : 'It would remove:', plan.removes)
  const stays = section(confirm === undefined ? 'Kept:' : 'It would keep:', plan.keeps)
  const next =
    confirm === undefined
      ? []
      : [`To do it, call ${confirm} again with workspace ${JSON.stringify(plan.summary.id)} and confirm: true.`]
  return [head, ...goes, ...stays, ...next].join('\n')
}

/** The question whether a removal shall be done, for a person. */
export function questionText(plan: RemovalPlan, verb: { would: string }): string {
  const { name, workdir } = plan.summary
  return [
    `${verb.would} the workspace ${name} (${workdir}).`,
    ...section('It would remove:', plan.removes),
    ...section('It would keep:', plan.keeps),
    'Do it?',
  ].join('\n')
}

function section(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [title, ...items.map(item => `- ${item}`)]
}
