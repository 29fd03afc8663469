import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { BACKEND_NAMES } from '../../src/backends/backend.ts'
import { FAULTS, type Outcome, type Row } from '../backends/faults/matrix.ts'
import type { Requirement } from '../support/verifies.ts'
import { requirements } from './catalog.ts'

const DOCUMENT = fileURLToPath(new URL('../../docs/backends.md', import.meta.url))
const MARK = '<!-- from here on written by test/requirements/features.test.ts -->'
const ALL = Object.entries(requirements as Record<string, Requirement>)

/** Why a requirement is not asked of a backend over either transport; nothing where it is. */
function absence({ not, only }: Requirement, backend: string): string | undefined {
  const both = not?.[`${backend}/stdio`] !== undefined && not[`${backend}/http`] !== undefined
  return (
    not?.[backend] ??
    (both ? not?.[`${backend}/stdio`] : undefined) ??
    (only?.backends.includes(backend) === false ? only.reason : undefined)
  )
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function countTable(): string[] {
  const areas = [...new Set(ALL.map(([id]) => id.split('.')[0] ?? id))].sort()
  const head = [row(['requirements', ...BACKEND_NAMES]), row(['---', ...BACKEND_NAMES.map(() => '---')])]
  const lines = areas.map(area => {
    const own = ALL.filter(([id]) => id.split('.')[0] === area)
    const counts = BACKEND_NAMES.map(name => {
      const there = own.filter(([, requirement]) => absence(requirement, name) === undefined).length
      return there === own.length ? `all ${there}` : `${there} of ${own.length}`
    })
    return row([`\`${area}\``, ...counts])
  })
  return [...head, ...lines]
}

function differences(): string[] {
  const lines = ALL.flatMap(([id, requirement]) => {
    const byReason = new Map<string, string[]>()
    for (const name of BACKEND_NAMES) {
      const reason = absence(requirement, name)
      if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), name])
    }
    return [...byReason].map(([reason, names]) => row([`\`${id}\``, requirement.says, names.join(', '), reason]))
  })
  return [row(['requirement', 'says', 'not on', 'because']), row(['---', '---', '---', '---']), ...lines]
}

function knownFailures(): string[] {
  const lines = ALL.flatMap(([id, { fails }]) =>
    Object.entries(fails ?? {}).map(([place, why]) => row([`\`${id}\``, place, why ?? ''])),
  )
  if (lines.length === 0) return ['No requirement is known to fail anywhere.']
  return [row(['requirement', 'where', 'why']), row(['---', '---', '---']), ...lines]
}

const FAULTY = BACKEND_NAMES.filter(name => name !== 'local')

function cell(outcome: Outcome): string {
  if (outcome.kind === 'absent') return '–'
  if (outcome.kind === 'recovers') return 'goes on'
  return outcome.files === undefined ? `\`${outcome.code}\`` : `\`${outcome.code}\`, files ${outcome.files}`
}

function faultTable(): string[] {
  const rows: Row[] = Object.values(FAULTS)
  const reasons = rows.flatMap(fault =>
    FAULTY.flatMap(name => {
      const outcome = fault[name]
      return outcome.kind === 'absent' ? [{ name, says: fault.says, because: outcome.because }] : []
    }),
  )
  const lines = rows.filter(fault => FAULTY.some(name => fault[name].kind === 'absent'))
  const why = lines.map(({ says }) => {
    const mine = reasons.filter(each => each.says === says)
    return row([says, mine.map(({ name }) => name).join(', '), [...new Set(mine.map(({ because }) => because))].join(' ')])
  })
  return [
    row(['fault', ...FAULTY]),
    row(['---', ...FAULTY.map(() => '---')]),
    ...rows.map(fault => row([fault.says, ...FAULTY.map(name => cell(fault[name]))])),
    '',
    row(['fault', "can't happen on", 'because']),
    row(['---', '---', '---']),
    ...why,
  ]
}

it('docs/backends.md tells which requirement is asked of which backend, and what comes of faults', () => {
  const written = readFileSync(DOCUMENT, 'utf8')
  const [own = ''] = written.split(MARK)
  const parts = [
    MARK,
    '',
    ...countTable(),
    '',
    '## Not everywhere',
    '',
    ...differences(),
    '',
    '## Known failures',
    '',
    ...knownFailures(),
    '',
    '## Faults',
    '',
    'What comes of a service, a network or a host that misbehaves; each cell is a test (`test/backends/faults`). *Goes on*: the call goes',
    'well in spite of it, once, and nothing is lost or left over. A code: the call fails with it and says the next step, and nothing is',
    'left over of what it made; where files are told of, the next call goes well, with them or with the notice that they are gone.',
    '',
    ...faultTable(),
  ]
  const text = `${own}${parts.join('\n')}\n`
  if (process.env.UPDATE !== undefined) writeFileSync(DOCUMENT, text)
  expect(text, 'UPDATE=1 writes docs/backends.md anew').toBe(readFileSync(DOCUMENT, 'utf8'))
})
