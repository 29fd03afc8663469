import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { interleave, line, quantile } from './measure.mjs'
import { gatewayOf, memoryOf, runBare, withClient } from './place.mjs'

const MIB = 1024 * 1024

function gibibyteFile(path) {
  const file = openSync(path, 'w')
  let number = 0
  for (let written = 0; written < 1024 * MIB; ) {
    const block = Array.from(
      { length: 20_000 },
      () => `${String(number++).padStart(9, '0')} some text of a usual length for a line of code\n`,
    ).join('')
    written += writeSync(file, block)
  }
  closeSync(file)
  return number
}

export const read = () =>
  withClient(async (place, client) => {
    const path = join(place.project, 'large.txt')
    const lines = gibibyteFile(path)
    const middle = Math.floor(lines / 2)
    const small = join(place.project, 'small.txt')
    writeFileSync(small, 'a line\n'.repeat(1_000))
    for (let i = 0; i < 100; i += 1) await client.call('Read', { file_path: small, limit: 20 })
    const before = memoryOf(gatewayOf(place))
    const rows = []
    for (const [name, offset, tool, args] of [
      ['head', 1, 'sed', ['-n', '1,20p;20q', path]],
      ['middle', middle, 'sed', ['-n', `${middle},${middle + 19}p;${middle + 19}q`, path]],
      ['last', -20, 'tail', ['-n', '20', path]],
    ]) {
      const bare = () => runBare(tool, args, { env: place.env })
      const ours = () => client.call('Read', { file_path: path, offset, limit: 20 })
      const times = await interleave({ bare, ours }, { rounds: name === 'middle' ? 7 : 31, warmUp: 2 })
      const limit = 3 * quantile(times.bare)
      rows.push(line(`Read 20 lines of 1 GiB, ${name}`, { ours: times.ours, base: times.bare, limit, bar: `≤ 3 × ${tool}` }))
    }
    const grown = (memoryOf(gatewayOf(place), 'VmHWM') - before) / MIB
    rows.push(line('… growth of the gateway', { ours: [grown], limit: 16, bar: '< 16 MiB', unit: 'MiB' }))
    return rows
  })

function ripgrep() {
  if (spawnSync('rg', ['--version']).status === 0) return 'rg'
  return createRequire(import.meta.url)('@vscode/ripgrep').rgPath
}

/** The bar holds where ripgrep itself takes this long. */
const COUNTS_FROM_MS = 200

async function besideRipgrep(name, { place, client, args, input }) {
  const program = ripgrep()
  const bare = () => runBare(program, [...args, '.'], { cwd: place.project, env: place.env })
  const times = await interleave({ bare, ours: () => client.call('Grep', input) }, { rounds: 15 })
  const base = quantile(times.bare)
  const limit = base < COUNTS_FROM_MS ? undefined : 1.3 * base
  return line(name, { ours: times.ours, base: times.bare, limit, bar: '≤ 1.3 × rg' })
}

function fill(place, { files, each, text }) {
  for (let i = 0; i < files; i += 1) {
    const folder = join(place.project, `d${Math.floor(i / each)}`)
    if (i % each === 0) mkdirSync(folder)
    writeFileSync(join(folder, `f${i}.txt`), text(i))
  }
}

export async function grep() {
  const pattern = '[a-z]+\\s+needle\\s+[a-z]+'
  const large = await withClient(async (place, client) => {
    const text = 'the quick brown fox jumps over the lazy dog 0123456789 and goes on\n'.repeat(3_000)
    fill(place, { files: 2_500, each: 100, text: i => (i % 250 === 0 ? `${text}the needle here\n` : text) })
    const input = { pattern, output_mode: 'content', '-n': true }
    return [await besideRipgrep('Grep of 500 MB', { place, client, args: ['-n', pattern], input })]
  })
  const many = await withClient(async (place, client) => {
    const text = 'the quick brown fox jumps over the lazy dog 0123456789 and goes on\n'.repeat(10)
    fill(place, { files: 100_000, each: 500, text: i => (i % 1_000 === 0 ? `${text}the needle here\n` : text) })
    const about = { place, client, args: ['-l', pattern] }
    const few = await besideRipgrep('Grep of 100 000 files, 100 match', { ...about, input: { pattern } })
    const input = { pattern: 'lazy', head_limit: 100 }
    return [few, await besideRipgrep('Grep of 100 000 files, all match', { ...about, args: ['-l', 'lazy'], input })]
  })
  return [...large, ...many]
}

export const output = () =>
  withClient(async (place, client) => {
    const command = "yes 'a line of output that is as long as lines usually are, or so' | head -c 5000000000"
    const before = { host: memoryOf(client.pid), gateway: memoryOf(gatewayOf(place)) }
    const times = await interleave(
      {
        bare: () => runBare('/bin/bash', ['-c', `${command} | cat > /dev/null`], { cwd: place.project, env: place.env }),
        ours: () => client.call('Bash', { command, timeout: 300_000 }),
      },
      { rounds: 3, warmUp: 0 },
    )
    const grown = (pid, from) => [(memoryOf(pid, 'VmHWM') - from) / MIB]
    return [
      line('5 GB of output', { ours: times.ours, base: times.bare, limit: 2 * quantile(times.bare), bar: '≥ 0.5 × the speed' }),
      line('… growth of the host', { ours: grown(client.pid, before.host), limit: 64, bar: '< 64 MiB', unit: 'MiB' }),
      line('… growth of the gateway', { ours: grown(gatewayOf(place), before.gateway), limit: 64, bar: '< 64 MiB', unit: 'MiB' }),
    ]
  })
