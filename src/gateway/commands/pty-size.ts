import { WorkspaceError } from '../../lib/errors.ts'
import type { TerminalSize } from '../protocol-commands.ts'

const DEFAULT: TerminalSize = { columns: 100, rows: 30 }
const MOST: TerminalSize = { columns: 500, rows: 200 }
const LEAST: TerminalSize = { columns: 20, rows: 5 }

/** The size of a terminal that was asked for, else the usual one; throws `invalid_argument` beyond 20 × 5 to 500 × 200. */
export function checkSize(size: TerminalSize = DEFAULT): TerminalSize {
  const { columns, rows } = size
  if (fits(columns, 'columns') && fits(rows, 'rows')) return { columns, rows }
  throw new WorkspaceError('invalid_argument', `A terminal of ${columns} columns and ${rows} rows can't be made.`, {
    hint: `From ${LEAST.columns}x${LEAST.rows} to ${MOST.columns}x${MOST.rows} is possible.`,
  })
}

function fits(value: number, side: keyof TerminalSize): boolean {
  return Number.isInteger(value) && value >= LEAST[side] && value <= MOST[side]
}
