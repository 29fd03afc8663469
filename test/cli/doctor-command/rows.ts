import type { FaultName } from '../../backends/faults/matrix.ts'
import type { FaultPlace } from '../../backends/faults/place.ts'
import { IDLE_MS } from '../../backends/faults/streams.ts'
import type { FaultModes, FaultRule } from '../../stand-ins/shared/faults.ts'

type Place = FaultPlace['name']

/** How the doctor meets a fault. */
export type Meeting =
  /** The answer to a call, as in the matrix. */
  | { kind: 'call'; gaveUp?: true }
  | { kind: 'mode'; modes: FaultModes & { loseTailMs?: number } }
  /** The link's stream misbehaves; `strike`: what more happens to it once the doctor's command begins. */
  | { kind: 'stream'; rules: readonly FaultRule[]; strike?: readonly FaultRule[]; settings?: object }
  /** Somebody does it while the doctor's command runs. */
  | { kind: 'deed'; deed: 'paused' | 'expired' | 'removed' }
  /** It can't happen to one doctor; what is left for the operator to do is in docs/upkeep.md. */
  | { kind: 'never'; because: string; remedy?: RegExp }

/** The step that fails, what it says of the cause, and the remedy. */
export interface Told {
  step: string
  says: RegExp
  remedy?: RegExp
}

export interface Row {
  meets: Meeting
  /** Where the matrix has it that the call fails. */
  told?: Record<Place, Told>
  /** Where the doctor tells of what a workspace survives. */
  tells?: Partial<Record<Place, Told>>
}

type ByPlace = Record<Place, RegExp>

const KEY: ByPlace = {
  docker: /docker login/,
  kubernetes: /Renew the credentials/,
  e2b: /E2B_API_KEY/,
  daytona: /DAYTONA_API_KEY/,
  opensandbox: /OPEN_SANDBOX_API_KEY/,
}
const RIGHT: ByPlace = { ...KEY, kubernetes: /rights of deploy\/rbac\.yaml/, daytona: /Give the key the right to/ }
const SOURCE: ByPlace = {
  docker: /Name an image that/,
  kubernetes: /Name an image that/,
  e2b: /e2b template list/,
  daytona: /Name a snapshot or an image that/,
  opensandbox: /Name an image that/,
}
const HEALTH: ByPlace = {
  docker: /journalctl -u docker/,
  kubernetes: /kubectl get events/,
  e2b: /status\.e2b\.dev/,
  daytona: /status\.daytona\.io/,
  opensandbox: /the server's log|See whether the server runs/,
}
const AGAIN = everywhere(/run the doctor again/i)
const WAIT = everywhere(/wait 1 h/)

function everywhere(pattern: RegExp): ByPlace {
  return { docker: pattern, kubernetes: pattern, e2b: pattern, daytona: pattern, opensandbox: pattern }
}

function told(step: string, says: RegExp, remedies: ByPlace): Record<Place, Told> {
  const pairs = Object.entries(remedies).map(([place, remedy]) => [place, { step, says, remedy }])
  return Object.fromEntries(pairs) as Record<Place, Told>
}

const call: Meeting = { kind: 'call' }
const gaveUp = (): Row => {
  const one = { step: 'create', says: /It was interrupted/ }
  const all = { docker: one, kubernetes: one, e2b: one, daytona: one, opensandbox: one }
  return { meets: { kind: 'call', gaveUp: true }, told: all }
}
const deed = (name: 'paused' | 'expired' | 'removed'): Row => ({
  meets: { kind: 'deed', deed: name },
  told: told('echo', /was (paused|stopped|removed|deleted|killed)|exited with code 137/, AGAIN),
})
const reached = (says: RegExp): Record<Place, Told> => {
  const [within, before] = [told('create', says, HEALTH), told('reachable', says, HEALTH)]
  // There the first look is the doctor's own.
  return { ...before, docker: within.docker, kubernetes: within.kubernetes }
}
const ALWAYS = { times: 99 }
/** Input goes in a request a write. */
const ONE_BY_ONE: FaultRule = { match: 'POST /process.Process/StreamInput', status: 501, ...ALWAYS }
const OWN_NAME: Meeting = { kind: 'never', because: "Each run's workspace has a name of its own: no other host acquires it." }

/** What the doctor says of each fault of the matrix; where the matrix has it that the call goes on, it finds nothing wrong. */
export const ROWS: Readonly<Record<FaultName, Row>> = {
  latency: { meets: call },
  unauthenticated: { meets: call, told: told('create', /401|[Uu]nauthori[sz]ed/, KEY) },
  forbidden: { meets: call, told: told('create', /403/, RIGHT) },
  'not-found': { meets: call, told: told('create', /template 'x' not found/, SOURCE) },
  conflict: { meets: call, told: told('create', /409/, { ...AGAIN, opensandbox: /Try again: its state has changed/ }) },
  'rate-limit': { meets: call },
  'long-limit': { meets: call, told: told('create', /429|[Rr]ate limit/, WAIT) },
  busy: { meets: call, told: reached(/503/), tells: pick(reached(/503/), 'e2b', 'daytona', 'opensandbox') },
  broken: { meets: call, told: told('create', /500/, HEALTH) },
  reset: { meets: call, told: told('create', /ECONNRESET|hang up|other side closed/, HEALTH) },
  'lost-answer': { meets: call },
  'half-made': { meets: call, told: told('create', /500/, HEALTH) },
  'cancelled-creation': gaveUp(),
  'cancelled-step': gaveUp(),
  'failed-look-up': { meets: call, told: reached(/500/) },
  duplicate: { meets: { kind: 'mode', modes: { duplicateCreate: true } } },
  'late-lists': { meets: { kind: 'mode', modes: { listLagMs: 60_000 } } },
  'stream-reset': { meets: { kind: 'stream', rules: [{ onStrike: 'reset', ...ALWAYS }], strike: [] } },
  'stream-silent': { meets: { kind: 'stream', rules: [{ onStrike: 'mute', ...ALWAYS }], strike: [] } },
  drops: { meets: { kind: 'stream', rules: [{ onStrike: 'reset', ...ALWAYS }], strike: [{ reset: true, times: 3 }] } },
  'idle-cut': { meets: { kind: 'stream', rules: [{ idleCutMs: IDLE_MS, ...ALWAYS }] } },
  'lost-tail': { meets: { kind: 'mode', modes: { loseTailMs: 40 } } },
  'late-write': {
    meets: {
      kind: 'stream',
      rules: [ONE_BY_ONE],
      strike: [ONE_BY_ONE, { match: 'POST /process.Process/SendInput', latencyMs: 5_000 }],
      settings: { requestTimeoutMs: 3_000 },
    },
  },
  paused: deed('paused'),
  expired: deed('expired'),
  removed: deed('removed'),
  'leaked-key': {
    meets: { kind: 'never', because: 'It is a search of ours. No run of the doctor may print the key: each is looked at.' },
  },
  'ten-hosts': { meets: OWN_NAME },
  'ten-hosts-asleep': { meets: OWN_NAME },
  abandoned: {
    meets: { kind: 'never', because: 'A doctor that is killed says nothing.', remedy: /`doctor-…`[^.]*`atelier\s+rm`/ },
  },
  'killed-host': {
    meets: {
      kind: 'never',
      because: 'A doctor that is killed says nothing.',
      remedy: /A doctor that is killed[^.]*half\s+made[^.]*`atelier\s+prune`/,
    },
  },
}

function pick(all: Record<Place, Told>, ...places: Place[]): Partial<Record<Place, Told>> {
  return Object.fromEntries(places.map(place => [place, all[place]]))
}
