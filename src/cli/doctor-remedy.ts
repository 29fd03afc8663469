import type { BackendName, ProbeStep } from '../backends/backend.ts'
import { failedStep } from '../backends/probe.ts'
import { type ErrorCode, toWorkspaceError } from '../lib/errors.ts'

/** What tells how a backend itself is. */
const HEALTH: Readonly<Record<BackendName, string>> = {
  local: 'the load and the disk of this host',
  docker: "the engine's log (journalctl -u docker, or that of Docker Desktop)",
  kubernetes: 'kubectl get events, and the health of the API server (kubectl get --raw /readyz)',
  e2b: 'https://status.e2b.dev',
  daytona: 'https://status.daytona.io',
  opensandbox: "the server's log",
}

/** Where a refusal does not name its key itself. */
const LOGIN: Readonly<Partial<Record<BackendName, string>>> = {
  docker: 'Log in (docker login), or see what the proxy or authorization plugin of the engine allows. ',
}

/** What a workspace is made from. */
const SOURCE: Readonly<Record<BackendName, string>> = {
  local: 'a directory',
  docker: 'an image',
  kubernetes: 'an image',
  e2b: 'a template',
  daytona: 'a snapshot or an image',
  opensandbox: 'an image',
}

/** Steps that are the backend's alone: nothing inside has a part in them. */
const OUTSIDE: ReadonlySet<string> = new Set(['create', 'delete'])

/** A step of a try that failed, with a next step for who looks after the backend; the hints of some errors are for an agent. */
export function failedTry(title: string, error: unknown, backend: BackendName): ProbeStep {
  const { code } = toWorkspaceError(error)
  const remedy = remedyFor(code, title, backend)
  const step = failedStep(title, error, remedy)
  return code === 'environment_lost' || code === 'environment_gone' ? { ...step, hint: remedy } : step
}

function remedyFor(code: ErrorCode, title: string, backend: BackendName): string {
  if (code === 'environment_lost' || code === 'environment_gone') {
    return `Something else paused, stopped or removed it, or its time was over: see who may, and ${HEALTH[backend]}. Then run the doctor again.`
  }
  const inside = OUTSIDE.has(title) ? '' : 'docs/images.md for what an image needs, '
  const documents = `${inside}docs/${backend}.md, and the log with --log-level debug.`
  return `${OUTSIDE.has(title) ? (byCode(code, backend) ?? '') : ''}See ${documents}`
}

/** What to look at first, as a sentence. */
function byCode(code: ErrorCode, backend: BackendName): string | undefined {
  switch (code) {
    case 'unavailable':
    case 'timeout':
      return `Look at ${HEALTH[backend]}, and run the doctor again. `
    case 'unauthenticated':
    case 'permission_denied':
      return LOGIN[backend]
    case 'not_found':
      return `Name ${SOURCE[backend]} that is there or can be pulled. `
    case 'already_exists':
    case 'precondition_failed':
      return 'Somebody else was at it in the same moment: run the doctor again. '
    default:
      return undefined
  }
}
