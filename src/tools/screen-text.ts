import type { TerminalView } from '../workspace/ports.ts'
import { compose, present } from './compose.ts'
import { endedLog, jobState } from './job-text.ts'
import type { ToolAnswer } from './tool.ts'
import { count, formatBytes } from './units.ts'

/** The answer of a tool that shows a terminal; `started`: it is the first of its job. */
export function screenAnswer(
  view: TerminalView,
  { notices = [], started = false }: { notices?: readonly string[]; started?: boolean } = {},
): ToolAnswer {
  const text = screenText(view, [...notices, ...(started && view.job.status === 'running' ? [howToType(view.job.id)] : [])])
  const { id, status, exitCode, signal } = view.job
  const { columns, rows, cursor, title, alternate } = view.screen
  const screen = { columns, rows, cursor, title, alternate }
  const fields = { id, job: id, status, exitCode, signal, log: view.job.log, screen, output: text }
  return { text, structured: present(fields), log: endedLog(view.job) ?? (started ? { job: id } : undefined) }
}

/** A terminal's screen as a model reads it: what stands there, then how its job, its cursor and its log stand. */
function screenText(view: TerminalView, notices: readonly string[]): string {
  const { lines } = view.screen
  const body = lines.length === 0 ? '(the screen is empty)' : lines.join('\n')
  return compose(body, [stateOf(view), scrolledOff(view), cut(view), ...notices])
}

function stateOf({ job, screen }: TerminalView): string {
  const { columns, rows, cursor, title, alternate } = screen
  const place = `cursor at row ${cursor.row}, column ${cursor.column}${cursor.visible ? '' : ' (hidden)'}`
  const parts = [
    `job ${job.id}: ${jobState(job)}`,
    `screen ${columns}x${rows}${alternate ? ', full-screen program' : ''}`,
    job.status === 'running' ? place : `full log: ${job.log} (${formatBytes(job.bytes)})`,
    title === '' ? '' : `title ${JSON.stringify(title.slice(0, 100))}`,
  ]
  return parts.filter(part => part !== '').join('; ')
}

function howToType(id: string): string {
  return `BashInput {"id": ${JSON.stringify(id)}} with text or keys types into it, KillBash ends it`
}

function scrolledOff({ job, screen }: TerminalView): string | undefined {
  if (screen.scrolledOff === 0 || screen.alternate) return undefined
  const how = `BashOutput {"id": ${JSON.stringify(job.id)}, "offset": 0} reads all of the output as text`
  return `${count(screen.scrolledOff, 'line')} scrolled off at the top: ${how}`
}

function cut({ screen }: TerminalView): string | undefined {
  if (screen.skippedBytes === 0) return undefined
  return `drawn from the end of the log, without its first ${formatBytes(screen.skippedBytes)}`
}
