import type { ErrorCode } from '../../../src/lib/errors.ts'
import type { FaultPlace } from './place.ts'

/** What comes of a fault on one backend. */
export type Outcome =
  /** The call goes well in spite of it, once, with nothing lost and nothing left over. */
  | { kind: 'recovers' }
  /** The call fails with this code and a next step; nothing is left over, and the next one goes well. */
  | { kind: 'fails'; code: ErrorCode; files?: 'kept' | 'gone' }
  | { kind: 'absent'; because: string }

export type Row = { says: string } & Record<FaultPlace['name'], Outcome>

const recovers: Outcome = { kind: 'recovers' }
const fails = (code: ErrorCode, files?: 'kept' | 'gone'): Outcome => ({
  ...{ kind: 'fails', code },
  ...(files === undefined ? {} : { files }),
})
const absent = (because: string): Outcome => ({ kind: 'absent', because })
const everywhere = (outcome: Outcome): Record<FaultPlace['name'], Outcome> => ({
  ...{ docker: outcome, kubernetes: outcome, e2b: outcome, daytona: outcome, opensandbox: outcome },
})

const NAMED = absent('Names are unique there: a second one of the same name is refused.')
const TRUE_LISTS = absent('What was made is seen at once there.')
const NO_CLOCK = absent('Nothing there ends by a clock of the service.')
const NO_LIMIT = absent('An engine limits no rates.')
const ONE_PIPE = absent('One connection carries all input, in order: a write is not a request.')

/** Faults by name, and what comes of each on every backend. The tests run it, and docs/backends.md shows it. */
export const FAULTS = {
  latency: { says: 'Every answer is late.', ...everywhere(recovers) },
  unauthenticated: { says: 'The key is refused (401).', ...everywhere(fails('unauthenticated')) },
  forbidden: { says: 'The key may not do it (403).', ...everywhere(fails('permission_denied')) },
  'not-found': {
    says: 'What it is to be made of is not there (404).',
    ...everywhere(fails('not_found')),
  },
  conflict: {
    says: 'Somebody else was faster (409), and gone when looked for.',
    ...everywhere(recovers),
    e2b: fails('already_exists'),
    opensandbox: fails('precondition_failed'),
  },
  'rate-limit': { says: 'Too many requests (429): asked to wait a second, twice.', ...everywhere(recovers), docker: NO_LIMIT },
  'long-limit': {
    says: 'Too many requests (429): asked to wait an hour.',
    ...everywhere(fails('limit_exceeded')),
    docker: NO_LIMIT,
  },
  busy: {
    says: 'The service has no time (503), twice, when it is looked for.',
    ...everywhere(recovers),
    docker: fails('unavailable'),
  },
  broken: { says: 'The creation fails (500), again and again.', ...everywhere(fails('unavailable')) },
  reset: {
    says: 'The connection is reset before the creation has an effect.',
    ...everywhere(recovers),
    e2b: fails('unavailable'),
    opensandbox: fails('unavailable'),
  },
  'lost-answer': { says: 'The creation has its effect, its answer is lost.', ...everywhere(recovers) },
  'half-made': { says: 'The first step after the creation fails (500), again and again.', ...everywhere(fails('unavailable')) },
  'cancelled-creation': { says: 'The caller gives up while it is created.', ...everywhere(fails('cancelled')) },
  'cancelled-step': { says: 'The caller gives up in the first step after the creation.', ...everywhere(fails('cancelled')) },
  'failed-look-up': { says: 'A look-up fails (500): it never means that there is none.', ...everywhere(fails('unavailable')) },
  duplicate: { says: 'One creation makes two.', ...everywhere(recovers), docker: NAMED, kubernetes: NAMED, daytona: NAMED },
  'late-lists': {
    says: 'Lists show what was made a minute later; meanwhile a second host comes.',
    ...everywhere(recovers),
    docker: TRUE_LISTS,
    kubernetes: TRUE_LISTS,
  },
  'stream-reset': {
    says: "The link's stream is reset while a command prints: all of it arrives once, and the command runs once.",
    ...everywhere(recovers),
  },
  'stream-silent': { says: "The link's stream dies without being closed.", ...everywhere(recovers) },
  drops: { says: "The link's stream is reset, and so are the next three.", ...everywhere(recovers) },
  'idle-cut': { says: 'Each stream on which nothing moves for a while is cut.', ...everywhere(recovers) },
  'lost-tail': { says: 'The end of a process overtakes its last output.', ...everywhere(recovers) },
  'late-write': {
    says: 'A write arrives after its time-out.',
    ...everywhere(ONE_PIPE),
    e2b: recovers,
  },
  paused: { says: 'Somebody pauses or stops it while a command runs.', ...everywhere(fails('environment_lost', 'kept')) },
  expired: {
    says: 'Its time is over while a command runs.',
    ...everywhere(fails('environment_lost', 'kept')),
    docker: NO_CLOCK,
    kubernetes: NO_CLOCK,
    opensandbox: fails('environment_gone', 'gone'),
  },
  removed: {
    says: 'Somebody removes it while a command runs.',
    ...everywhere(fails('environment_gone', 'gone')),
    docker: fails('environment_lost', 'kept'),
    kubernetes: fails('environment_lost', 'kept'),
  },
  'leaked-key': {
    says: "A command searches all that is inside for the backend's key, which must not be there.",
    ...everywhere(recovers),
    docker: absent('There is no key.'),
  },
  'ten-hosts': { says: 'Ten processes acquire it at once.', ...everywhere(recovers) },
  'ten-hosts-asleep': { says: 'Ten hosts acquire it at once after it was closed.', ...everywhere(recovers) },
  abandoned: {
    says: 'The host is killed once it has made it, and nobody acquires it again: it is listed, and can be removed.',
    ...everywhere(recovers),
  },
  'killed-host': { says: 'The host is killed (`kill -9`) in any step of making it.', ...everywhere(recovers) },
} satisfies Record<string, Row>

export type FaultName = keyof typeof FAULTS
