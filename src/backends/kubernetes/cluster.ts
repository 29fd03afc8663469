import { PassThrough } from 'node:stream'
import type { CoreV1Api, Exec, ObservableMiddleware, RequestContext } from '@kubernetes/client-node'
import { sleep } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { importSdk } from '../import-sdk.ts'
import { clusterError, isPassing, retryAfterMs, statusOf } from './errors.ts'
import { type Kubeconfig, readKubeconfig } from './kubeconfig.ts'
import type { KubernetesSettings } from './settings.ts'

type Sdk = typeof import('@kubernetes/client-node')
/** Goes with each request: it carries the time limit and the caller's signal. */
interface RequestOptions {
  middleware: ObservableMiddleware[]
  middlewareMergeStrategy: 'append'
}

export interface RequestCall extends CallOptions {
  /** How long what fails for a passing reason is tried again, in ms. */
  retryMs?: number
}

/** One request gets this long, and what fails for a passing reason is tried again for as long. */
const REQUEST_MS = 15_000
const RETRY_MS = 20_000
/** One that never answered yet may not be there at all. */
const FIRST_RETRY_MS = 2_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/** A cluster as this backend talks to it. */
export class Cluster {
  readonly #sdk: Sdk
  readonly #settings: KubernetesSettings
  #kubeconfig: Kubeconfig
  #api: CoreV1Api
  #answered = false

  private constructor(sdk: Sdk, settings: KubernetesSettings) {
    this.#sdk = sdk
    this.#settings = settings
    this.#kubeconfig = this.#read()
    this.#api = this.#kubeconfig.config.makeApiClient(sdk.CoreV1Api)
  }

  /** Loads the client and reads the kubeconfig; asks the cluster nothing. */
  static async connect(settings: KubernetesSettings): Promise<Cluster> {
    const load = () => import('@kubernetes/client-node')
    return new Cluster(await importSdk<Sdk>('kubernetes', '@kubernetes/client-node', load), settings)
  }

  /** What is in use at the moment; credentials may be read anew. */
  get place(): Omit<Kubeconfig, 'config'> {
    return this.#kubeconfig
  }

  get namespace(): string {
    return this.#kubeconfig.namespace
  }

  /** What runs commands, with the credentials in use at the moment. */
  exec(): Exec {
    const exec = new this.#sdk.Exec(this.#kubeconfig.config)
    // A server that closes a channel would else close this process's own output: the client takes the one for the other.
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    Object.assign(exec.handler, { streams })
    return exec
  }

  /** Reads the credentials anew: tokens are rotated in the file. */
  reload(): void {
    this.#kubeconfig = this.#read()
    this.#api = this.#kubeconfig.config.makeApiClient(this.#sdk.CoreV1Api)
  }

  /**
   * Runs one request that may be repeated: again while the server is away or has too much to do, once more with fresh credentials.
   * `what` begins the message of the error.
   */
  async call<T>(
    what: string,
    request: (api: CoreV1Api, options: RequestOptions) => Promise<T>,
    { signal, retryMs = this.#answered ? RETRY_MS : FIRST_RETRY_MS }: RequestCall = {},
  ): Promise<T> {
    const end = Date.now() + retryMs
    let fresh = false
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const late = AbortSignal.timeout(REQUEST_MS)
      try {
        const answer = await request(this.#api, this.#within(signal === undefined ? late : AbortSignal.any([late, signal])))
        this.#answered = true
        return answer
      } catch (error) {
        if (signal?.aborted) throw new WorkspaceError('cancelled', `${what}: cancelled.`, { cause: error })
        if (late.aborted) throw this.#silent(what, error)
        const waitMs = Math.max(pauseMs, retryAfterMs(error) ?? 0)
        if (statusOf(error) === 401 && !fresh) {
          fresh = true
          this.reload()
        } else if (isPassing(error) && Date.now() + waitMs < end) await sleep(waitMs, { signal })
        else throw clusterError(error, what, this.place.server)
      }
    }
  }

  /** Whether the cluster lets the user of the kubeconfig do this in the namespace; `resource` may name a part: `pods/exec`. */
  async may({ verb, resource }: { verb: string; resource: string }, { signal }: CallOptions = {}): Promise<boolean> {
    const api = this.#kubeconfig.config.makeApiClient(this.#sdk.AuthorizationV1Api)
    const [name = '', subresource] = resource.split('/')
    const { namespace } = this
    const resourceAttributes = { namespace, verb, resource: name, ...(subresource === undefined ? {} : { subresource }) }
    const body = { spec: { resourceAttributes } }
    const review = await this.call(
      'Asking for the rights',
      (_, options) => api.createSelfSubjectAccessReview({ body }, options),
      { signal, retryMs: 0 },
    )
    return review.status?.allowed === true
  }

  #read(): Kubeconfig {
    return readKubeconfig(() => new this.#sdk.KubeConfig(), this.#settings)
  }

  #within(signal: AbortSignal): RequestOptions {
    const { Observable } = this.#sdk
    const pre = (context: RequestContext) => {
      context.setSignal(signal)
      return new Observable(Promise.resolve(context))
    }
    return {
      middleware: [{ pre, post: response => new Observable(Promise.resolve(response)) }],
      middlewareMergeStrategy: 'append',
    }
  }

  #silent(what: string, cause: unknown): WorkspaceError {
    const { server } = this.place
    return new WorkspaceError('unavailable', `${what}: the cluster ${server} did not answer within ${REQUEST_MS / 1_000} s.`, {
      hint: 'See whether it is well: kubectl get --raw /readyz.',
      cause,
    })
  }
}
