import type { JobInfo } from '../../src/gateway/protocol.ts'
import type { TerminalView } from '../../src/workspace/ports.ts'
import type { Screen } from '../../src/workspace/terminal/screen.ts'
import { job } from './fakes.ts'

/** A terminal as a port gives it, with the fields that matter to a test. */
export function terminalView(screen: Partial<Screen>, fields: Partial<JobInfo> = {}): TerminalView {
  return {
    job: job({ input: 'pty', ...fields }),
    screen: {
      columns: 100,
      rows: 30,
      lines: [],
      cursor: { row: 2, column: 5, visible: true },
      title: '',
      alternate: false,
      applicationCursor: false,
      scrolledOff: 0,
      replies: '',
      skippedBytes: 0,
      ...screen,
    },
  }
}
