import { mediaTypeOf } from '../../gateway/files/media-type.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { ShownImage } from './view.ts'

/** An image that a reader gave, checked: the reader handled a file that nobody trusts. */
export function shownImage(image: ShownImage, { maxEdge, maxBytes }: { maxEdge: number; maxBytes: number }): ShownImage {
  const { data, mediaType, width, height } = image
  const sized = [width, height].every(edge => Number.isInteger(edge) && edge >= 1 && edge <= maxEdge)
  if (data instanceof Uint8Array && data.length <= maxBytes && mediaTypeOf(data) === mediaType && sized) return image
  throw new WorkspaceError('unsupported', 'What was read is no image that could be shown.')
}
