import { closeSync, mkdtempSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FifoPool, type OutputPipe } from '../../../src/gateway/commands/fifo-pool.ts'
import { OutputReader, sharedReadBuffer } from '../../../src/gateway/commands/output-reader.ts'

/** Keeps this process from doing anything else, as starting many commands does. */
function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('pipes of commands', () => {
  let folder: string
  let pool: FifoPool
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'at-fifo-'))
    pool = new FifoPool(folder)
  })
  afterEach(() => {
    pool.dispose()
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  const readerOf = (pipe: OutputPipe) => {
    let text = ''
    const reader = new OutputReader(pipe.read, { buffer: sharedReadBuffer(), onChunk: chunk => (text += chunk) })
    return { reader, text: () => text }
  }
  const finish = async (pipe: OutputPipe, reader: OutputReader) => {
    reader.destroy()
    closeSync(pipe.handover)
    await reader.closed
    pipe.giveBack(reader.eof)
  }

  it('are read to their end, however busy this process was meanwhile', async () => {
    const pipe = pool.output()
    const { reader, text } = readerOf(pipe)
    writeSync(pipe.write, 'hi\n')
    closeSync(pipe.write)
    const drained = reader.drain({ quietMs: 30, maxMs: 200 })
    block(400)
    await drained
    expect({ text: text(), eof: reader.eof }).toEqual({ text: 'hi\n', eof: true })
    await finish(pipe, reader)
  })

  it('are given up while somebody still holds them', async () => {
    const pipe = pool.output()
    const { reader } = readerOf(pipe)
    await reader.drain({ quietMs: 5, maxMs: 20 })
    expect(reader.eof).toBe(false)
    closeSync(pipe.write)
    await finish(pipe, reader)
  })

  it('serve again, empty, and carry nothing over', async () => {
    for (const word of ['one', 'two', 'three']) {
      const pipe = pool.output()
      const { reader, text } = readerOf(pipe)
      writeSync(pipe.write, word)
      closeSync(pipe.write)
      await reader.ended
      expect(text()).toBe(word)
      await finish(pipe, reader)
    }
  })
})
