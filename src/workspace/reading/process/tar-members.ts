import type { HostBytes } from './host-bytes.ts'

/** A member as its header tells it, with what the headers before it say of it. */
export interface TarMember {
  name: string
  /** In bytes, of the content that follows in the archive. */
  size: number
  folder: boolean
  linkname: string | undefined
}

type Source = Pick<HostBytes, 'size' | 'readInto'>
interface Raw extends TarMember {
  type: string
}
/** Fields that stand in place of the next header's. */
type Instead = Partial<Pick<TarMember, 'name' | 'size' | 'linkname'>>

const BLOCK = 512
/** Of the headers that say more of the next member. */
const MAX_MORE = 1024 ** 2

/**
 * The members of an uncompressed tar, from header to header: contents are not fetched. `undefined` for each header that is no
 * member's own, so that whoever reads can stop there too. Throws for what is no tar, or ends too early.
 */
export function* tarMembers(bytes: Source): Generator<TarMember | undefined> {
  let instead: Instead = {}
  let zeros = 0
  for (let at = 0; at < bytes.size && zeros < 2; ) {
    const block = part(bytes, at, BLOCK)
    at += BLOCK
    zeros = block.some(byte => byte !== 0) ? 0 : zeros + 1
    if (zeros > 0) continue
    const raw = decode(block)
    if ('LKxg'.includes(raw.type)) {
      if (raw.size > MAX_MORE) throw new Error('a header is too long')
      instead = { ...instead, ...moreOf(raw.type, part(bytes, at, raw.size)) }
      at = after(at, raw.size)
      yield undefined
      continue
    }
    const { type, ...member } = { ...raw, ...instead }
    instead = {}
    // A folder has a size in some archives, but no content.
    at = member.folder ? at : after(at, member.size)
    if (at > bytes.size) throw new Error('it ends too early')
    yield member
  }
}

const after = (at: number, size: number): number => at + Math.ceil(size / BLOCK) * BLOCK

function part(bytes: Source, at: number, length: number): Buffer {
  const target = Buffer.alloc(length)
  if (bytes.readInto(target, at) < length) throw new Error('it ends too early')
  return target
}

function decode(block: Buffer): Raw {
  const magic = block.toString('latin1', 257, 263)
  if (!magic.startsWith('ustar') || numberAt(block, 148, 8) !== checksum(block)) throw new Error('a header of it is invalid')
  const size = numberAt(block, 124, 12)
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('a header of it tells no size')
  const prefix = magic === 'ustar\0' ? textAt(block, 345, 155) : ''
  const name = `${prefix}${prefix === '' ? '' : '/'}${textAt(block, 0, 100)}`
  const type = String.fromCharCode(block[156] || 0x30)
  return {
    name,
    size,
    type,
    folder: type === '5' || (type === '0' && name.endsWith('/')),
    linkname: textAt(block, 157, 100) || undefined,
  }
}

/** The sum of all bytes, those of the checksum itself counted as spaces. */
function checksum(block: Buffer): number {
  return block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0)
}

/** Octal digits, or a binary number that a set first bit tells. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length)
  if ((field[0] ?? 0) >= 0x80)
    return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, field[0] === 0x80 ? 0 : Number.NaN)
  const digits = textAt(block, at, length).trim()
  return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

function textAt(block: Buffer, at: number, length: number): string {
  const end = block.subarray(at, at + length).indexOf(0)
  return block.toString('utf8', at, end === -1 ? at + length : at + end)
}

function moreOf(type: string, data: Buffer): Instead {
  if (type === 'L') return { name: textAt(data, 0, data.length) }
  if (type === 'K') return { linkname: textAt(data, 0, data.length) }
  // What is said of all members is never what tells one from another.
  return type === 'x' ? paxOf(data) : {}
}

/** Records of the form `LENGTH KEY=VALUE\n`, the length in bytes and with itself. */
function paxOf(data: Buffer): Instead {
  const found: Instead = {}
  for (let at = 0; at < data.length; ) {
    const [head = '', digits = ''] = /^(\d{1,7}) /.exec(data.toString('latin1', at, at + 8)) ?? []
    const length = Number(digits)
    if (length <= head.length) break
    const [, key, value = ''] = /^([^=]*)=(.*)$/s.exec(data.toString('utf8', at + head.length, at + length - 1)) ?? []
    if (key === 'path') found.name = value
    if (key === 'linkpath') found.linkname = value
    if (key === 'size' && /^\d{1,15}$/.test(value)) found.size = Number(value)
    at += length
  }
  return found
}
