import fc from 'fast-check'
import { expect, it } from 'vitest'
import { kindOfFile } from '../../../src/workspace/reading/kind-of-file.ts'
import { tar, zip } from '../../support/archives.ts'
import { pdf, png, wav } from '../../support/documents.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

/** A frame of AAC with two channels at 44.1 kHz. */
function adts({ length = 0, layer = 0, sampling = 4 }): Buffer {
  const frame = Buffer.alloc(length)
  frame.set([
    0xff,
    0xf1 | (layer << 1),
    0x40 | (sampling << 2),
    0x80 | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ])
  return frame
}

/** A frame of MPEG audio, layer 3, of 128 kbit/s at 44.1 kHz. */
const mpeg = (): Buffer => Buffer.concat([bytes('\xff\xfb\x90\x44')], 417)

it.each([
  [png(1, 1), 'image', 'image/png'],
  [bytes('\0\0\0\x20ftypavis'), 'image', 'image/avif'],
  [bytes('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28'), 'image', 'image/bmp'],
  [pdf(['x']), 'pdf', 'application/pdf'],
  [zip([{ name: 'a' }]), 'zip', 'application/zip'],
  [tar([{ name: 'a' }]), 'tar', 'application/x-tar'],
  // What a tar holds first begins like something else.
  [tar([{ name: 'ID3' }]), 'tar', 'application/x-tar'],
  [wav(8), 'audio', 'audio/wav'],
  [bytes('\xff\xfb\x90\x44\0\0'), 'audio', 'audio/mpeg'],
  [bytes('\0\0\0\x20ftypM4A '), 'audio', 'audio/mp4'],
  [adts({ length: 200 }), 'audio', 'audio/aac'],
  [Buffer.concat([adts({ length: 200 }), adts({ length: 120 })]), 'audio', 'audio/aac'],
  [bytes('ID3\x04\0\0\0\0\x02\x01'), 'audio', 'audio/mpeg'],
  [bytes('FORM\0\0\x10\0AIFFCOMM'), 'audio', 'audio/aiff'],
  [Buffer.concat([mpeg(), mpeg()]), 'audio', 'audio/mpeg'],
  [Buffer.concat([mpeg(), Buffer.alloc(90)]), 'other', undefined],
  // Binaries that share some of the bytes.
  [adts({ length: 200, layer: 3 }), 'other', undefined],
  [adts({ length: 200, sampling: 13 }), 'other', undefined],
  [adts({ length: 7 }), 'other', undefined],
  [adts({ length: 8_000 }), 'other', undefined],
  [Buffer.concat([adts({ length: 200 }), Buffer.alloc(200, 7)]), 'other', undefined],
  [Buffer.concat([adts({ length: 200 }), adts({ length: 120, sampling: 5 })]), 'other', undefined],
  [bytes('\xff\xf1\0\0\0\0\0\0\0\0'), 'other', undefined],
  [bytes('\xff\xf9'), 'other', undefined],
  [bytes('ABCD\0\0\0\0WAVEfmt '), 'other', undefined],
  [bytes('ABCD\0\0\0\0AIFFCOMM'), 'other', undefined],
  [bytes('ID3\xff\xff\xff\xff\xff\xff\xff'), 'other', undefined],
  [bytes('Rar!\x1a\x07\x01'), 'other', 'application/vnd.rar'],
  [bytes('\xff\xff\xff\xff'), 'other', undefined],
  [bytes('BMW'), 'other', undefined],
  [bytes(''), 'other', undefined],
])('%# is known by its first bytes', (head, kind, mediaType) => {
  expect(kindOfFile(head.subarray(0, 512))).toEqual({ kind, mediaType })
})

it('any bytes have some kind', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), head => kindOfFile(head).kind !== undefined))
})
