import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { WorkspaceError } from '../../lib/errors.ts'
import type { KubernetesSettings } from './settings.ts'

type Choice = Pick<KubernetesSettings, 'kubeconfig' | 'inCluster' | 'context' | 'namespace'>

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Where the credentials come from, and the cluster they lead to. */
export interface Kubeconfig {
  config: KubeConfig
  /** For people: a path, or `the service account of this Pod`. */
  source: string
  context: string
  server: string
  namespace: string
}

/** Reads the kubeconfig anew. Throws `not_found` or `invalid_argument` with what there is to choose from. */
export function readKubeconfig(make: () => KubeConfig, choice: Choice): Kubeconfig {
  const config = make()
  const source = load(config, make, choice)
  const names = config.getContexts().map(({ name }) => name)
  if (choice.context !== undefined && !choice.inCluster) {
    if (!names.includes(choice.context)) throw noContext(choice.context, source, names)
    config.setCurrentContext(choice.context)
  }
  const context = config.getCurrentContext()
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw noContext(context ?? '', source, names)
  const namespace = choice.namespace ?? config.getContextObject(context)?.namespace ?? 'default'
  return { config, source, context, server: cluster.server, namespace }
}

function load(config: KubeConfig, make: () => KubeConfig, { kubeconfig, inCluster }: Choice): string {
  if (inCluster) return loadInCluster(config)
  const usual = join(homedir(), '.kube', 'config')
  const paths = kubeconfig?.split(delimiter).filter(path => path !== '') ?? (existsSync(usual) ? [usual] : [])
  if (paths.length === 0 && existsSync(SERVICE_ACCOUNT)) return loadInCluster(config)
  if (paths.length === 0) {
    throw new WorkspaceError('not_found', `No cluster is configured: there is no ${usual}, and this process runs in no Pod.`, {
      hint: 'Set KUBECONFIG, or kubernetes.kubeconfig in the configuration.',
    })
  }
  for (const [index, path] of paths.entries()) {
    const part = index === 0 ? config : make()
    try {
      part.loadFromFile(path)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const why = code === 'ENOENT' ? 'does not exist' : `can't be read: ${message.split('\n')[0]}`
      throw new WorkspaceError(code === 'ENOENT' ? 'not_found' : 'invalid_argument', `The kubeconfig ${path} ${why}.`, {
        hint: 'Correct KUBECONFIG, or kubernetes.kubeconfig in the configuration.',
        cause: error,
      })
    }
    if (index > 0) config.mergeConfig(part, true)
  }
  return paths.join(delimiter)
}

function loadInCluster(config: KubeConfig): string {
  if (!existsSync(SERVICE_ACCOUNT)) {
    throw new WorkspaceError(
      'not_found',
      `This process runs in no Pod that has a service account: there is no ${SERVICE_ACCOUNT}.`,
      {
        hint: 'Leave out kubernetes.inCluster and give a kubeconfig.',
      },
    )
  }
  config.loadFromCluster()
  return 'the service account of this Pod'
}

function noContext(context: string, source: string, names: readonly string[]): WorkspaceError {
  const there = names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`
  return new WorkspaceError('invalid_argument', `The kubeconfig ${source} has no usable context ${JSON.stringify(context)}.`, {
    hint: `${there} Name one of them with kubernetes.context.`,
  })
}
