import type { Logger } from '../../lib/log.ts'
import type { CallOptions, ProbeStep } from '../backend.ts'
import { Probe } from '../probe.ts'
import type { DockerContext } from './context.ts'
import { ensureImage, inspectImage } from './image.ts'

/** A large image over a slow line. */
const PULL_MS = 600_000
const ENGINE_HINT =
  'See whether the engine answers: docker version. Another one is named by --docker-host, DOCKER_HOST or a docker context.'

/** What `docker` needs, each with what was found: an engine, the default image, which is pulled when it is not there. */
export async function probeDocker(
  connect: () => Promise<DockerContext>,
  { logger, signal }: CallOptions & { logger: Logger },
): Promise<ProbeStep[]> {
  const probe = new Probe()
  const context = await probe.connect('reachable', connect, {
    found({ engine: { version, address, rootless, userNamespace } }) {
      return `Docker ${version} at ${address}${rootless ? ', rootless' : userNamespace ? ', with user namespaces' : ''}`
    },
    ...{ hint: ENGINE_HINT, signal },
  })
  if (context === undefined) return probe.steps
  const { engine, image } = context
  const found = async (end: AbortSignal) => {
    const there = await inspectImage(engine.docker, image)
    const { Os, Architecture } = there ?? (await ensureImage(engine.docker, image, { logger, signal: end }))
    return `${image} (${Os}/${Architecture})${there === undefined ? ', pulled just now' : ''}`
  }
  await probe.step('image', found, { limitMs: PULL_MS, signal })
  return probe.steps
}
