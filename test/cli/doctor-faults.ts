import type { FaultRule } from '../stand-ins/shared/faults.ts'

/** One thing that is wrong, and what the doctor is to say of it. */
export interface Fault {
  what: string
  /** Variables over those of a backend that is well; `undefined` takes one away. */
  env?: Readonly<Record<string, string | undefined>>
  /** What the service does wrong. */
  rules?: readonly FaultRule[]
  /** The step that fails; all before it go well. */
  step: string
  says: RegExp
  remedy: RegExp
}

const NOWHERE = 'http://127.0.0.1:2'
/** More often than any client asks. */
const ALWAYS = { times: 99 }

const docker: Fault[] = [
  {
    what: 'no engine',
    env: { ATELIER_DOCKER_HOST: 'unix:///nowhere.sock' },
    ...{ step: 'reachable', says: /nowhere\.sock does not exist/, remedy: /dockerd.*DOCKER_HOST/ },
  },
  {
    what: 'an engine that refuses',
    env: { ATELIER_DOCKER_HOST: 'tcp://127.0.0.1:9' },
    ...{ step: 'reachable', says: /ECONNREFUSED/, remedy: /DOCKER_HOST or a docker context/ },
  },
  {
    what: 'a context that there is not',
    env: { ATELIER_DOCKER_CONTEXT: 'no-such-context' },
    ...{ step: 'reachable', says: /no-such-context/, remedy: /docker context/ },
  },
  {
    what: 'an image that can not be pulled',
    env: { ATELIER_IMAGE: '127.0.0.1:9/no-such-image:none' },
    ...{ step: 'image', says: /no-such-image:none.*can't be pulled/, remedy: /Pull or build it|name another/ },
  },
  {
    what: 'a profile that the engine refuses',
    env: { ATELIER_PROFILE: 'odd', ATELIER_PROFILES: '{"odd":{"network":"no-such-network"}}' },
    ...{ step: 'create', says: /no-such-network/, remedy: /./ },
  },
]

const e2b: Fault[] = [
  { what: 'no key', env: { E2B_API_KEY: undefined }, step: 'configured', says: /no API key/, remedy: /E2B_API_KEY/ },
  { what: 'nobody there', env: { E2B_API_URL: NOWHERE }, step: 'reachable', says: /ECONNREFUSED/, remedy: /e2b\.apiUrl/ },
  { what: 'a wrong key', env: { E2B_API_KEY: 'e2b_wrong' }, step: 'authorised', says: /API key/, remedy: /E2B_API_KEY/ },
  { what: '403', rules: [{ match: 'GET /v2', status: 403 }], step: 'authorised', says: /403/, remedy: /E2B_API_KEY/ },
  {
    what: 'the address of something else',
    rules: [{ match: 'GET /v2', status: 404, message: 'no such page' }],
    ...{ step: 'reachable', says: /no such page/, remedy: /e2b\.domain/ },
  },
  {
    what: '429',
    rules: [{ match: 'GET /v2', status: 429, retryAfter: 0.1, ...ALWAYS }],
    ...{ step: 'authorised', says: /429|[Rr]ate limit/, remedy: /plan/ },
  },
  { what: '500', rules: [{ match: 'GET /v2', status: 500, ...ALWAYS }], step: 'reachable', says: /500/, remedy: /status\.e2b/ },
  {
    what: 'no answer in time',
    env: { ATELIER_E2B: '{"requestTimeoutMs":1000}' },
    rules: [{ match: 'GET /v2', latencyMs: 3_000 }],
    ...{ step: 'reachable', says: /time/i, remedy: /e2b\.domain/ },
  },
  {
    what: 'a template that there is not',
    env: { ATELIER_E2B: '{"template":"no-such-template"}' },
    ...{ step: 'template', says: /'no-such-template' not found/, remedy: /e2b template list/ },
  },
  {
    what: 'the id of a template that there is not',
    env: { ATELIER_E2B: '{"template":"abcdefghij0123456789"}' },
    ...{ step: 'create', says: /'abcdefghij0123456789' not found/, remedy: /e2b template list/ },
  },
  {
    what: 'a quota',
    rules: [{ match: 'POST /v2', status: 429, retryAfter: 0.1, message: 'maximum number of concurrent sandboxes', ...ALWAYS }],
    ...{ step: 'create', says: /concurrent sandboxes/, remedy: /plan/ },
  },
  {
    what: 'a user that there is not inside',
    env: { ATELIER_E2B: '{"user":"nobody-here"}' },
    ...{ step: 'create', says: /refuses the user "nobody-here"/, remedy: /e2b\.user/ },
  },
]

const daytona: Fault[] = [
  {
    what: 'no key',
    env: { DAYTONA_API_KEY: undefined },
    ...{ step: 'configured', says: /no API key/, remedy: /DAYTONA_API_KEY/ },
  },
  { what: 'nobody there', env: { DAYTONA_API_URL: NOWHERE }, step: 'reachable', says: /ECONNREFUSED/, remedy: /DAYTONA_API_URL/ },
  { what: 'a wrong key', env: { DAYTONA_API_KEY: 'wrong' }, step: 'authorised', says: /Unauthorized/, remedy: /DAYTONA_API_KEY/ },
  { what: '403', rules: [{ match: 'GET /api/sandbox', status: 403 }], step: 'authorised', says: /403/, remedy: /right to read/ },
  {
    what: 'the address of something else',
    rules: [{ match: 'GET /api/sandbox', status: 404, message: 'no such page' }],
    ...{ step: 'reachable', says: /no such page/, remedy: /DAYTONA_API_URL/ },
  },
  {
    what: '429',
    rules: [{ match: 'GET /api/sandbox', status: 429, retryAfter: 30, ...ALWAYS }],
    ...{ step: 'authorised', says: /429/, remedy: /wait 30 s/ },
  },
  {
    what: '500',
    rules: [{ match: 'GET /api/sandbox', status: 500, ...ALWAYS }],
    ...{ step: 'reachable', says: /500/, remedy: /status\.daytona/ },
  },
  {
    what: 'no answer in time',
    env: { ATELIER_DAYTONA: '{"requestTimeoutMs":1000}' },
    rules: [{ match: 'GET /api/sandbox', latencyMs: 3_000, ...ALWAYS }],
    ...{ step: 'reachable', says: /time/i, remedy: /requestTimeoutMs/ },
  },
  {
    what: 'a snapshot that there is not',
    env: { ATELIER_DAYTONA: '{"snapshot":"nowhere"}' },
    ...{ step: 'snapshot', says: /nowhere not found/, remedy: /daytona\.snapshot/ },
  },
  {
    what: 'a snapshot that sleeps',
    env: { ATELIER_DAYTONA: '{"snapshot":"sleeping"}' },
    ...{ step: 'snapshot', says: /sleeping is inactive/, remedy: /Activate it/ },
  },
  {
    what: 'an image that is not built',
    env: { ATELIER_IMAGE: 'no-such-image:none' },
    ...{ step: 'create', says: /its image was not built|no-such-image/, remedy: /daytona\.image/ },
  },
  {
    what: 'a quota',
    rules: [{ match: 'POST /api/sandbox$', status: 403, message: 'Total CPU limit exceeded. Maximum allowed: 10' }],
    ...{ step: 'create', says: /CPU limit exceeded/, remedy: /limits of the organization/ },
  },
  {
    what: 'no way into the sandbox',
    env: { ATELIER_RECONNECT_MS: '1000' },
    rules: [{ match: '/process/pty', status: 500, times: 999 }],
    ...{ step: 'gateway', says: /A terminal in sandbox .*500/, remedy: /docs\/images\.md.*docs\/daytona\.md/ },
  },
  {
    what: 'a directory that can not be made',
    env: { ATELIER_DAYTONA: '{"workdir":"/proc/nowhere"}' },
    ...{ step: 'create', says: /\/proc\/nowhere can't be used/, remedy: /daytona\.workdir/ },
  },
]

const LIST = 'GET /v1/sandboxes\\?'

const opensandbox: Fault[] = [
  {
    what: 'nobody there',
    env: { OPEN_SANDBOX_DOMAIN: '127.0.0.1:2' },
    step: 'reachable',
    says: /ECONNREFUSED/,
    remedy: /domain/,
  },
  {
    what: 'a wrong key',
    env: { OPEN_SANDBOX_API_KEY: 'wrong' },
    ...{ step: 'authorised', says: /[Kk]ey/, remedy: /OPEN_SANDBOX_API_KEY/ },
  },
  {
    what: 'the address of something else',
    rules: [{ match: LIST, status: 404, message: 'no such page' }],
    ...{ step: 'reachable', says: /no such page/, remedy: /opensandbox\.domain/ },
  },
  { what: '429', rules: [{ match: LIST, status: 429 }], step: 'authorised', says: /429/, remedy: /pause and delete/ },
  { what: '500', rules: [{ match: LIST, status: 500 }], step: 'reachable', says: /500/, remedy: /domain/ },
  {
    what: 'no answer in time',
    env: { ATELIER_OPENSANDBOX: '{"requestTimeoutMs":1000}' },
    rules: [{ match: LIST, latencyMs: 3_000 }],
    ...{ step: 'reachable', says: /time/i, remedy: /opensandbox\.domain/ },
  },
  {
    what: 'an image that can not be pulled',
    env: { ATELIER_IMAGE: '127.0.0.1:9/no-such-image:none' },
    ...{ step: 'create', says: /no-such-image/, remedy: /opensandbox\.image/ },
  },
  {
    what: 'a quota',
    rules: [{ match: 'POST /v1/sandboxes$', status: 429, message: 'too many sandboxes', retryAfter: 0, ...ALWAYS }],
    ...{ step: 'create', says: /too many sandboxes/, remedy: /pause and delete/ },
  },
]

/** Faults by backend; those of Kubernetes need a cluster's own hand. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = { docker, e2b, daytona, opensandbox }
