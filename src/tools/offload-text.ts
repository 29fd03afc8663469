import type { Offloaded } from '../workspace/offload/offloader.ts'
import type { ExtraContent } from './tool.ts'

/** A link to an offloaded file, for clients that follow links. */
export function offloadLink({ uri, path, size }: Pick<Offloaded, 'uri' | 'path' | 'size'>, mimeType: string): ExtraContent {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { type: 'resource_link', uri, name, mimeType, size }
}
