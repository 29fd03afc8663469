/** Bytes in front of a frame's data: with a checksum two more. */
const ADTS_HEADER = 7
/** The most that one channel's part of a frame takes. */
const ADTS_CHANNEL = 768
const MPEG_HEADER = 4
/** Rates of data in version 1, and in 2 and 2.5; of samples in version 1. */
const KBITS_1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KBITS_2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const SAMPLING = [44_100, 48_000, 32_000]

/** Whether bytes begin with a frame of AAC as ADTS has it: no field without a meaning, and another frame where it ends. */
export function isAdts(head: Uint8Array): boolean {
  const length = adtsFrame(head)
  if (length === undefined) return false
  const next = head.subarray(length)
  return next.length < ADTS_HEADER || (sameStream(head, next) && adtsFrame(next) !== undefined)
}

/** The same for MPEG audio, layer 3. */
export function isMpegFrame(head: Uint8Array): boolean {
  const length = mpegFrame(head)
  if (length === undefined) return false
  const next = head.subarray(length)
  return next.length < MPEG_HEADER || (next[1] === head[1] && mpegFrame(next) !== undefined)
}

/** Whether bytes begin with a tag of ID3, which may stand before MPEG audio: a known version, and a size of 7-bit bytes. */
export function isId3(head: Uint8Array): boolean {
  const [major = 0, revision = 0xff] = head.subarray(3, 5)
  const size = head.subarray(6, 10)
  return major >= 2 && major <= 4 && revision !== 0xff && size.length === 4 && size.every(byte => byte < 0x80)
}

/** The length of a frame, header included; undefined for what is none. */
function adtsFrame(head: Uint8Array): number | undefined {
  if (head.length < ADTS_HEADER) return undefined
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = head
  const sync = first === 0xff && (second & 0xf0) === 0xf0
  const layer = (second >> 1) & 3
  const sampling = (third >> 2) & 15
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5)
  if (!sync || layer !== 0 || sampling >= 13) return undefined
  const shortest = ADTS_HEADER + (second & 1 ? 0 : 2)
  const channels = ((third & 1) << 2) | (fourth >> 6)
  const blocks = (seventh & 3) + 1
  // Channels that the data itself tells may be any number.
  const longest = channels === 0 ? 0x1fff : shortest + ADTS_CHANNEL * (channels === 7 ? 8 : channels) * blocks
  return length > shortest && length <= longest ? length : undefined
}

/** As `adtsFrame`. */
function mpegFrame([first = 0, second = 0, third = 0]: Uint8Array): number | undefined {
  const layer3 = (second & 0xe6) === 0xe2
  const version = (second >> 3) & 3
  const kbits = (version === 3 ? KBITS_1 : KBITS_2)[(third >> 4) - 1]
  const sampling = SAMPLING[(third >> 2) & 3]
  if (first !== 0xff || !layer3 || version === 1 || kbits === undefined || sampling === undefined) return undefined
  const [samples, hertz] = version === 3 ? [1152, sampling] : [576, version === 2 ? sampling / 2 : sampling / 4]
  return Math.floor((samples / 8) * ((kbits * 1000) / hertz)) + ((third >> 1) & 1)
}

/** Version, profile, sampling and channels are the same in all frames. */
function sameStream(one: Uint8Array, other: Uint8Array): boolean {
  return one[1] === other[1] && one[2] === other[2] && ((one[3] ?? 0) & 0xc0) === ((other[3] ?? 0) & 0xc0)
}
