import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobInfo } from '../../../src/gateway/protocol.ts'
import type { GatewayCalls } from '../../../src/workspace/environment-link.ts'
import { Terminals } from '../../../src/workspace/terminal/terminals.ts'
import { job } from '../../tools/fakes.ts'

const folder = mkdtempSync(join(tmpdir(), 'atelier-terminal-'))
const script = join(folder, 'terminal.mjs')
beforeAll(() => void execFileSync(process.execPath, ['scripts/build.mjs', '--only', 'terminal', '--out', folder]), 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Asked {
  method: string
  params: Record<string, unknown>
}

/** A gateway with one job and its log. */
function gatewayOf(start: Buffer, fields: Partial<JobInfo> = {}) {
  let log = start
  const asked: Asked[] = []
  const info = job({ input: 'pty', bytes: log.length, terminal: [{ at: 0, columns: 40, rows: 10 }], ...fields })
  const call = async (method: string, params: Record<string, unknown>) => {
    asked.push({ method, params })
    if (method === 'job.list') return { jobs: [info] }
    if (method === 'job.input') return { bytes: 1, job: info }
    const [offset, length] = [params.offset as number, params.length as number]
    return { path: params.path, size: log.length, data: log.subarray(offset, offset + length).toString('base64') }
  }
  const append = (text: string) => {
    log = Buffer.concat([log, Buffer.from(text)])
    info.bytes = log.length
  }
  return { gateway: { call } as unknown as GatewayCalls, info, asked, append }
}

describe('a terminal that is looked at', () => {
  it('is what its log draws', async () => {
    const { gateway, info } = gatewayOf(Buffer.from('old\x1b[2J\x1b[3;5Hnew'))
    const { terminal, notices } = await new Terminals(gateway, script).look(info)
    expect(terminal?.screen).toMatchObject({ lines: ['', '', '    new'], columns: 40, rows: 10, cursor: { row: 3, column: 8 } })
    expect(terminal?.job).toBe(info)
    expect(notices).toEqual([])
  })

  it('is nothing for a job without one', async () => {
    const { gateway, info, asked } = gatewayOf(Buffer.from('x'), { input: 'pipe' })
    expect(await new Terminals(gateway, script).look(info)).toEqual({ notices: [] })
    expect(asked).toEqual([])
  })

  it('is drawn from the end of a long log, from where a line begins', async () => {
    const line = `${'y'.repeat(1022)}\r\n`
    const log = Buffer.from(`${line.repeat(6 * 1024)}\x1b[2J\x1b[Hlast`)
    const { gateway, info, asked } = gatewayOf(log)
    const { terminal } = await new Terminals(gateway, script).look(info)
    expect(terminal?.screen.lines).toEqual(['last'])
    const { skippedBytes = 0 } = terminal?.screen ?? {}
    expect(skippedBytes).toBeGreaterThanOrEqual(log.length - 4 * 1024 * 1024)
    expect(log[skippedBytes]).toBe(10)
    expect(asked.map(({ params }) => params.length).every(length => (length as number) <= 1024 * 1024)).toBe(true)
  })

  it('bounds the sizes that a gateway tells', async () => {
    const terminal = [
      { at: 0, columns: 1e9, rows: 1e9 },
      { at: 1, columns: -1, rows: Number.NaN },
      { at: 2, columns: 30, rows: 4 },
    ]
    const { gateway, info } = gatewayOf(Buffer.from('abc'), { terminal })
    expect((await new Terminals(gateway, script).look(info)).terminal?.screen).toMatchObject({ columns: 30, rows: 4 })
  })

  it('is a sentence where the log can not be shown', async () => {
    const { gateway, info } = gatewayOf(Buffer.from('x'))
    const broken = join(folder, 'broken.mjs')
    writeFileSync(broken, 'process.exit(3)')
    const { terminal, notices } = await new Terminals(gateway, broken).look(info)
    expect(terminal).toBeUndefined()
    expect(notices.join()).toMatch(/^The screen can't be shown: .*memory/)
  })

  it('ends with the call that asked for it', async () => {
    const { gateway, info } = gatewayOf(Buffer.from('x'))
    const hanging = join(folder, 'hanging.mjs')
    writeFileSync(hanging, 'setInterval(() => {}, 1000)')
    const signal = AbortSignal.timeout(200)
    await expect(new Terminals(gateway, hanging).look(info, { signal })).rejects.toThrow()
  })
})

describe('a log that grows', () => {
  it('is fetched only where it is new, and played as a whole', async () => {
    const { gateway, info, asked, append } = gatewayOf(Buffer.from('\x1b[2;2Hone'))
    const terminals = new Terminals(gateway, script)
    expect((await terminals.look(info)).terminal?.screen.lines).toEqual(['', ' one'])
    append('\x1b[1;1Htwo')
    expect((await terminals.look(info)).terminal?.screen.lines).toEqual(['two', ' one'])
    expect(asked.map(({ params }) => [params.offset, params.length])).toEqual([
      [0, 9],
      [9, 9],
    ])
  })
})

describe('a program that asks its terminal', () => {
  it('is answered once, and looked at after that', async () => {
    const { gateway, info, asked, append } = gatewayOf(Buffer.from('hello\x1b]11;?\x07\x1b[6n'))
    const terminals = new Terminals(gateway, script)
    expect((await terminals.look(info)).terminal?.screen.lines).toEqual(['hello'])
    const sent = () => asked.filter(({ method }) => method === 'job.input').map(({ params }) => params.keys)
    expect(sent()).toEqual(['\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[1;6R'])
    await terminals.look(info)
    expect(sent()).toHaveLength(1)
    append('\r\nagain\x1b[c')
    await terminals.look(info)
    expect(sent()[1]).toBe('\x1b[?1;2c')
  })

  it('gets no answer once it went on, or is over', async () => {
    for (const [log, fields] of [
      ['\x1b[6nand on', {}],
      ['\x1b[6n', { status: 'exited', exitCode: 0 }],
    ] as const) {
      const { gateway, info, asked } = gatewayOf(Buffer.from(log), fields)
      await new Terminals(gateway, script).look(info)
      expect(asked.some(({ method }) => method === 'job.input')).toBe(false)
    }
  })
})

describe('input', () => {
  const typed = async (log: string, keys: string) => {
    const { gateway, asked } = gatewayOf(Buffer.from(log))
    await new Terminals(gateway, script).send({ id: 'j1', keys })
    return asked.find(({ method }) => method === 'job.input')?.params
  }

  it('has cursor keys as the program wants them', async () => {
    expect(await typed('\x1b[?1h', 'up')).toMatchObject({ id: 'j1', keys: '\x1bOA' })
    expect(await typed('\x1b[?1h\x1b[?1l', 'up')).toMatchObject({ keys: '\x1b[A' })
  })

  it('looks at no screen for other keys, and sends nothing where one is wrong', async () => {
    const { gateway, asked } = gatewayOf(Buffer.from('x'))
    const terminals = new Terminals(gateway, script)
    await terminals.send({ id: 'j1', data: 'a', keys: 'ctrl-c' })
    expect(asked.map(({ method }) => method)).toEqual(['job.input'])
    await expect(terminals.send({ id: 'j1', data: 'a', keys: 'up nokey' })).rejects.toThrow('There is no key "nokey"')
    expect(asked).toHaveLength(1)
  })
})
