/** Where in a file its sound begins, and where the file ends by its own header, as far as it tells. */
export interface SoundExtent {
  /** Not before the end of the file where that holds no sound. */
  start: number
  end?: number
}

/** A stream that was written without knowing its length says so by one of these. */
const UNKNOWN = new Set([0, 0xffffffff])
const FORM_HEADER = 12
const CHUNK_HEADER = 8
const SSND_HEADER = 8
const ID3_HEADER = 10
const FLAC_HEADER = 4

/** The extent of a sound whose format has lengths in front: WAV, AIFF, FLAC, and MP3 behind a tag. */
export function soundExtent(bytes: Buffer): SoundExtent {
  switch (bytes.toString('latin1', 0, 4)) {
    case 'RIFF':
      return chunked(bytes, { data: 'data', own: 0, number: at => bytes.readUInt32LE(at) })
    case 'FORM':
      return chunked(bytes, { data: 'SSND', own: SSND_HEADER, number: at => bytes.readUInt32BE(at) })
    case 'fLaC':
      return { start: afterBlocks(bytes) }
  }
  return { start: bytes.toString('latin1', 0, 3) === 'ID3' ? afterTag(bytes) : 0 }
}

/** `own`: bytes in the chunk of the sound that stand before it. */
function chunked(bytes: Buffer, { data, own, number }: { data: string; own: number; number(at: number): number }): SoundExtent {
  const told = bytes.length < FORM_HEADER ? 0 : number(4)
  const end = UNKNOWN.has(told) ? {} : { end: told + CHUNK_HEADER }
  let at = FORM_HEADER
  while (at + CHUNK_HEADER <= bytes.length && bytes.toString('latin1', at, at + 4) !== data) {
    // Chunks begin at even places.
    at += CHUNK_HEADER + number(at + 4) + (number(at + 4) % 2)
  }
  return { start: at + CHUNK_HEADER + own, ...end }
}

function afterBlocks(bytes: Buffer): number {
  let at = FLAC_HEADER
  while (at + 4 <= bytes.length) {
    const last = (bytes.readUInt8(at) & 0x80) !== 0
    at += 4 + bytes.readUIntBE(at + 1, 3)
    if (last) return at
  }
  return bytes.length
}

/** Its size is told in bytes of seven bits. */
function afterTag(bytes: Buffer): number {
  return bytes.subarray(6, ID3_HEADER).reduce((size, byte) => size * 128 + byte, 0) + ID3_HEADER
}
