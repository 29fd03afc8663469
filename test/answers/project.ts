import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { tar } from '../support/archives.ts'
import { ENCRYPTED, pdf, wav } from '../support/documents.ts'

const SERVER = fileURLToPath(new URL('../support/fake-mcp-server.mjs', import.meta.url))

const APP = `import { total } from './util.ts'

export function main(prices: number[]): string {
  const sum = total(prices)
  return \`total: \${sum}\`
}
`

const UTIL = `export function total(prices: number[]): number {
  return prices.reduce((sum, price) => sum + price, 0)
}

export function mean(prices: number[]): number {
  return total(prices) / prices.length
}
`

/** A PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const NOTEBOOK = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { language_info: { name: 'python' } },
  cells: [
    { id: 'a1', cell_type: 'markdown', metadata: {}, source: ['# Prices\n'] },
    {
      id: 'a2',
      cell_type: 'code',
      execution_count: 1,
      metadata: {},
      source: ['sum([1, 2, 3])'],
      outputs: [{ output_type: 'execute_result', execution_count: 1, metadata: {}, data: { 'text/plain': ['6'] } }],
    },
  ],
}

const FILES: Record<string, string | Buffer> = {
  'README.md': '# Prices\n\nAdds prices.\n',
  'src/app.ts': APP,
  'src/util.ts': UTIL,
  'notes.txt': Array.from({ length: 400 }, (_, at) => `note ${at + 1}\n`).join(''),
  'data/prices.csv': 'name,price\nbread,3\nmilk,2\n',
  'data/blob.bin': Buffer.from([0, 1, 2, 3, 254, 255, 0, 0, 7, 7, 7, 7]),
  'media/pixel.png': Buffer.from(PIXEL, 'base64'),
  'prices.ipynb': `${JSON.stringify(NOTEBOOK, null, 1)}\n`,
  'media/prices.pdf': pdf(['Price list\nbread 3\nmilk 2', 'Terms\npay within 30 days']),
  'media/manual.pdf': pdf(Array.from({ length: 30 }, (_, at) => `Chapter ${at + 1}`)),
  'media/locked.pdf': pdf(['Wages'], { trailer: ENCRYPTED }),
  'media/reports.tar': tar([
    { name: 'reports/', mode: 0o040755, type: '5' },
    { name: 'reports/may.csv', content: 'bread,31\n' },
    { name: 'reports/june.csv', content: 'bread,28\nmilk,4\n' },
  ]),
  'media/chime.wav': wav(800),
  'media/cut.wav': wav(800).subarray(0, 444),
  'media/broken.png': Buffer.from('\x89PNG\r\n\x1a\nthis is no picture', 'latin1'),
  'skills-to-add/release-notes/SKILL.md':
    '---\nname: release-notes\ndescription: Writes release notes from a list of commits.\n---\n\nGroup the commits by kind.\n',
}

/** Fills a directory with a small project; every file has a time of its own, so that newest first is always the same. */
export function fillProject(dir: string): void {
  for (const [at, [name, content]] of Object.entries(FILES).entries()) {
    const path = join(dir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    utimesSync(path, 1_700_000_000 + at, 1_700_000_000 + at)
  }
  copyFileSync(SERVER, join(dir, 'tools.mjs'))
  utimesSync(join(dir, 'tools.mjs'), 1_600_000_000, 1_600_000_000)
}
