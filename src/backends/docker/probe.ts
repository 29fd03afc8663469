import { toWorkspaceError } from '../../lib/errors.ts'
import type { ProbeStep } from '../backend.ts'
import type { DockerContext } from './context.ts'
import { inspectImage } from './image.ts'

/** What `docker` needs, each with what was found: an engine, the default image. */
export async function probeDocker(connect: () => Promise<DockerContext>): Promise<ProbeStep[]> {
  let context: DockerContext
  try {
    context = await connect()
  } catch (error) {
    const { message, hint } = toWorkspaceError(error)
    return [{ name: 'engine', ok: false, detail: message, ...(hint === undefined ? {} : { hint }) }]
  }
  const { engine, image } = context
  const kind = engine.rootless ? ', rootless' : engine.userNamespace ? ', with user namespaces' : ''
  const step: ProbeStep = { name: 'engine', ok: true, detail: `Docker ${engine.version} at ${engine.address}${kind}` }
  const found = await inspectImage(engine.docker, image)
  if (found !== undefined) return [step, { name: 'image', ok: true, detail: `${image} (${found.Os}/${found.Architecture})` }]
  const hint = 'It is pulled at the first use, or build it: docker build -t atelier-workspace .'
  return [step, { name: 'image', ok: false, detail: `${image} is not on the engine`, hint }]
}
