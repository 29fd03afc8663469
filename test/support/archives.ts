import { createHash, randomBytes } from 'node:crypto'
import { deflateRawSync, gzipSync } from 'node:zlib'

/** A member as it is written, however bad. */
export interface Member {
  name: string
  content?: string | Buffer
  /** Unix mode with the type of file. */
  mode?: number
  /** Tar: type flag. */
  type?: string
  linkTo?: string
  /** The size that the header tells, where it lies. */
  declared?: number
  /** Zip: the content is said to be encrypted. */
  encrypted?: boolean
}

/** A zip with exactly these members; `told`: how many it says that it has, where it lies. */
export function zip(members: readonly Member[], { told = members.length }: { told?: number } = {}): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const member of members) {
    const name = Buffer.from(member.name)
    const content = Buffer.from(member.content ?? '')
    const packed = deflateRawSync(content)
    const size = member.declared ?? content.length
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(0x800 | (member.encrypted ? 1 : 0), 2)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(size, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((member.mode ?? 0o100644) << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), fields, tail, name]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(told, 4)
  end.writeUInt16LE(told, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end])
}

/** A tar with exactly these members. */
export function tar(members: readonly Member[]): Buffer {
  const blocks = members.flatMap(member => {
    const content = Buffer.from(member.content ?? '')
    const header = Buffer.alloc(512)
    header.write(member.name, 0, 100)
    header.write(`${((member.mode ?? 0o644) & 0o7777).toString(8).padStart(7, '0')}\0`, 100)
    header.write('0000000\0', 108)
    header.write('0000000\0', 116)
    header.write(`${(member.declared ?? content.length).toString(8).padStart(11, '0')}\0`, 124)
    header.write('00000000000\0', 136)
    header.write('        ', 148)
    header.write(member.type ?? '0', 156)
    header.write(member.linkTo ?? '', 157)
    header.write('ustar\x0000', 257, 'latin1')
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

export const tarGz = (members: readonly Member[]): Buffer => gzipSync(tar(members))

/** Bytes that do not shrink. */
export const noise = (size: number): Buffer => randomBytes(size)

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

function crc32(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1))
  }
  return ~crc >>> 0
}
