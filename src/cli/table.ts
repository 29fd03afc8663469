import Table from 'cli-table3'

const BARE = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
}

/** Rows in aligned columns under their heads, without lines or colours; control characters in them are shown, not sent. */
export function textTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...heads],
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map(row => row.map(printable)))
  return `${table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')}\n`
}

/** Names come from elsewhere; a terminal must not take them for commands. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, mark => `\\x${mark.charCodeAt(0).toString(16).padStart(2, '0')}`)
