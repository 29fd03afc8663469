import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'

/** One entry of an archive; a file's content is bytes, or a file of this host. */
export interface ArchiveEntry {
  path: string
  mode: number
  uid?: number
  gid?: number
  content: { directory: true } | { link: string } | { bytes: Uint8Array } | { file: string; size: number }
}

/** The entries as a tar stream; a file that can't be read makes it fail. */
export function packEntries(entries: readonly ArchiveEntry[]): Readable {
  const archive = pack()
  const fill = async (): Promise<void> => {
    for (const { path, mode, uid = 0, gid = 0, content } of entries) {
      const header = { name: path, mode, uid, gid, mtime: new Date() }
      if ('directory' in content) archive.entry({ ...header, type: 'directory' })
      else if ('link' in content) archive.entry({ ...header, type: 'symlink', linkname: content.link })
      else if ('bytes' in content) archive.entry(header, Buffer.from(content.bytes))
      else await pipeline(createReadStream(content.file), archive.entry({ ...header, size: content.size }))
    }
    archive.finalize()
  }
  fill().catch(error => archive.destroy(error as Error))
  return archive as unknown as Readable
}

/** The first regular file in a tar stream that `wanted` accepts, at most `limit` bytes of it; `undefined` when there is none. */
export async function firstFile(
  stream: NodeJS.ReadableStream,
  wanted: (path: string) => boolean,
  limit: number,
): Promise<Buffer | undefined> {
  const entries = stream.pipe(extract())
  stream.on('error', error => entries.destroy(error as Error))
  for await (const entry of entries) {
    if (entry.header.type !== 'file' || !wanted(entry.header.name)) {
      entry.resume()
      continue
    }
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of entry) {
      size += (chunk as Buffer).length
      if (size > limit) throw new Error(`${entry.header.name} is larger than ${limit} bytes`)
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks)
  }
  return undefined
}
