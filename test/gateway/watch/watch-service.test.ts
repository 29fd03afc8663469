import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { LinkPort } from '../../../src/gateway/dispatch.ts'
import { createWatchService, type WatchService, type WatchServiceOptions } from '../../../src/gateway/watch/watch-service.ts'
import { silentLogger } from '../../../src/lib/log.ts'
import { until } from '../../support/processes.ts'
import { callContext, failure, freshDirectory } from '../files/harness.ts'

const services: WatchService[] = []

afterEach(() => {
  for (const service of services.splice(0)) service.end()
})

/** A service on a fresh directory, with one link whose news are counted by watch. */
async function bench(options: Partial<WatchServiceOptions> = {}) {
  const workdir = await freshDirectory()
  const told = new Map<string, number>()
  const notices: string[] = []
  const link = { attached: true, backlog: 0, gone: false }
  const port = (): LinkPort => ({
    attached: link.attached,
    backlog: link.backlog,
    tell: (name, params) => {
      const { watch: id, notice } = params as { watch: string; notice?: string }
      if (name === 'watch.polled') notices.push(String(notice))
      else told.set(id, (told.get(id) ?? 0) + 1)
    },
  })
  const find = (): LinkPort | undefined => (link.gone ? undefined : port())
  const service = createWatchService({ workdir, link: find, log: silentLogger, pollMs: 50, ...options })
  services.push(service)
  return {
    workdir,
    service,
    link,
    notices,
    told: (id: string) => told.get(id) ?? 0,
    at: (name: string) => join(workdir, name),
    start: (path: string, id = path) => service.handlers['watch.start']({ path, watch: id }, callContext()),
    stop: (id: string) => service.handlers['watch.stop']({ watch: id }, callContext()),
    heard: (id: string, more = 1) => {
      const wanted = (told.get(id) ?? 0) + more
      return until(() => (told.get(id) ?? 0) >= wanted, `news of ${id}`, 5_000)
    },
  }
}

/** A watcher that the system refuses. */
const refusing = (code: string): typeof watch =>
  (() => {
    throw Object.assign(new Error(code), { code })
  }) as unknown as typeof watch

describe('watches', () => {
  it('tells of a change, a replacement, a removal and a return', async () => {
    const { start, heard, at } = await bench({ pollMs: 20_000 })
    writeFileSync(at('a.txt'), 'one')
    expect(await start('a.txt')).toMatchObject({ path: at('a.txt'), type: 'file', mode: 'events', notices: [] })
    let news = heard('a.txt')
    appendFileSync(at('a.txt'), 'two')
    await news
    news = heard('a.txt')
    writeFileSync(at('a.part'), 'three')
    renameSync(at('a.part'), at('a.txt'))
    await news
  })

  it('follows a file that goes and comes again', async () => {
    const { start, heard, at } = await bench()
    writeFileSync(at('a.txt'), 'one')
    await start('a.txt')
    let news = heard('a.txt')
    rmSync(at('a.txt'))
    await news
    news = heard('a.txt')
    writeFileSync(at('a.txt'), 'two')
    await news
    news = heard('a.txt')
    appendFileSync(at('a.txt'), 'three')
    await news
  })

  it('follows a file whose folder is replaced', async () => {
    const { start, heard, at } = await bench()
    mkdirSync(at('sub'))
    writeFileSync(at('sub/a.txt'), 'one')
    await start('sub/a.txt', 'w')
    let news = heard('w')
    mkdirSync(at('new'))
    writeFileSync(at('new/a.txt'), 'other')
    renameSync(at('sub'), at('old'))
    renameSync(at('new'), at('sub'))
    await news
    news = heard('w')
    writeFileSync(at('sub/a.txt'), 'again and longer')
    await news
  })

  it('follows what a link leads to', async () => {
    const { start, heard, at } = await bench({ pollMs: 20_000 })
    mkdirSync(at('far'))
    writeFileSync(at('far/a.txt'), 'one')
    symlinkSync(at('far/a.txt'), at('link.txt'))
    await start('link.txt')
    const news = heard('link.txt')
    appendFileSync(at('far/a.txt'), 'two')
    await news
  })

  it('tells of entries of a directory, not of what is in its files', async () => {
    const { start, heard, told, at } = await bench({ pollMs: 20_000 })
    writeFileSync(at('a.txt'), 'one')
    await start('.')
    appendFileSync(at('a.txt'), 'two')
    const news = heard('.')
    // Were the change of the file told, it would come first.
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(told('.')).toBe(0)
    writeFileSync(at('b.txt'), '')
    await news
  })

  it('follows a directory that is removed and made again at once', async () => {
    const { start, heard, at } = await bench({ pollMs: 20_000 })
    mkdirSync(at('sub'))
    await start('sub')
    let news = heard('sub')
    rmSync(at('sub'), { recursive: true })
    mkdirSync(at('sub'))
    await news
    news = heard('sub')
    writeFileSync(at('sub/new.txt'), '')
    await news
  })

  it('says nothing of a neighbour', async () => {
    const { start, heard, told, at } = await bench({ pollMs: 20_000 })
    writeFileSync(at('a.txt'), 'one')
    writeFileSync(at('b.txt'), 'one')
    await start('a.txt')
    await start('b.txt')
    const news = heard('b.txt')
    appendFileSync(at('b.txt'), 'two')
    await news
    expect(told('a.txt')).toBe(0)
  })

  it.each([
    ['ENOSPC', 'max_user_watches'],
    ['EMFILE', 'max_user_instances'],
  ])('polls and says why where the system answers %s', async (code, why) => {
    const { start, heard, at } = await bench({ folders: { watch: refusing(code) } })
    writeFileSync(at('a.txt'), 'one')
    const result = await start('a.txt')
    expect(result.mode).toBe('polling')
    expect(result.notices[0]).toContain(why)
    const news = heard('a.txt')
    appendFileSync(at('a.txt'), 'two')
    await news
  })

  it('says so once where the system refuses later, and again after events came back', async () => {
    let code: string | undefined
    const sometimes = ((...args: Parameters<typeof watch>) =>
      code === undefined ? watch(...args) : refusing(code)(...args)) as typeof watch
    const { start, heard, notices, at } = await bench({ folders: { watch: sometimes } })
    const replace = (text: string) => {
      rmSync(at('sub'), { recursive: true, force: true })
      mkdirSync(at('sub'))
      writeFileSync(at('sub/a.txt'), text)
    }
    replace('one')
    expect((await start('sub/a.txt', 'w')).mode).toBe('events')
    const change = async (text: string) => {
      const news = heard('w')
      replace(text)
      await news
    }
    code = 'ENOSPC'
    await change('two')
    await until(() => notices.length === 1, 'the notice', 5_000)
    expect(notices[0]).toMatch(/sub\/a\.txt is looked at every second.*max_user_watches/)
    await change('three, polled')
    code = undefined
    await change('four, watched again')
    await until(async () => (await start('sub/a.txt', 'other')).mode === 'events', 'events come again', 5_000)
    code = 'EMFILE'
    await change('five')
    await until(() => notices.length >= 2, 'the second notice', 5_000)
    expect(notices[1]).toContain('max_user_instances')
  })

  it('polls beyond its own limit of folders', async () => {
    const { start, stop, heard, at } = await bench({ folders: { maxFolders: 1 } })
    for (const folder of ['x', 'y']) {
      mkdirSync(at(folder))
      writeFileSync(at(`${folder}/a.txt`), 'one')
    }
    expect((await start('x/a.txt', 'x')).mode).toBe('events')
    expect((await start('y/a.txt', 'y')).notices[0]).toContain('1 folders are watched already')
    const news = heard('y')
    appendFileSync(at('y/a.txt'), 'two')
    await news
    await stop('x')
    await stop('y')
    expect((await start('y/a.txt', 'y')).mode).toBe('events')
  })

  it('keeps a report for a link that is away', async () => {
    const { start, heard, told, link, at } = await bench()
    writeFileSync(at('a.txt'), 'one')
    await start('a.txt')
    link.attached = false
    appendFileSync(at('a.txt'), 'two')
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(told('a.txt')).toBe(0)
    const news = heard('a.txt')
    link.attached = true
    await news
  })

  it('joins the changes of a busy file', async () => {
    const { start, heard, told, at } = await bench({ pollMs: 20_000 })
    writeFileSync(at('a.txt'), 'one')
    await start('a.txt')
    const news = heard('a.txt')
    for (let line = 0; line < 200; line += 1) appendFileSync(at('a.txt'), 'line\n')
    await news
    expect(told('a.txt')).toBeLessThanOrEqual(2)
  })

  it('is silent after its end, and after the end of its link', async () => {
    const { start, stop, told, heard, service, link, at } = await bench()
    for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(at(name), 'one')
    await start('a.txt')
    await start('b.txt')
    await stop('a.txt')
    const news = heard('b.txt')
    for (const name of ['a.txt', 'b.txt']) utimesSync(at(name), 1, 1)
    await news
    expect(told('a.txt')).toBe(0)
    link.gone = true
    service.leaveGone()
    link.gone = false
    await start('c.txt')
    const later = heard('c.txt')
    for (const name of ['b.txt', 'c.txt']) utimesSync(at(name), 2, 2)
    await later
    expect(told('b.txt')).toBe(1)
  })

  it('refuses what is not there, is no file, or lies outside', async () => {
    const { start, workdir } = await bench()
    expect((await failure(start('missing.txt'))).code).toBe('not_found')
    expect((await failure(start('/dev/null'))).code).toBe('unsupported')
    const confined = await bench({ confine: workdir })
    expect((await failure(confined.start('/etc/hostname'))).code).toBe('permission_denied')
  })
})
