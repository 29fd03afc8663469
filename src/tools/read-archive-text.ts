import type { ArchiveEntry, ArchiveView } from '../workspace/reading/view.ts'
import { compose } from './compose.ts'
import { count, formatBytes } from './units.ts'

const NAMES: Record<ArchiveView['format'], string> = {
  zip: 'a zip archive',
  tar: 'a tar archive',
  'tar.gz': 'a gzipped tar archive',
  gzip: 'a gzip-compressed file',
}
const EXPAND: Record<ArchiveView['format'], string> = {
  zip: 'unzip',
  tar: 'tar -xf',
  'tar.gz': 'tar -xzf',
  gzip: 'gzip -dc',
}
/** Documents that are zip archives, by a member that each has. */
const DOCUMENTS: readonly [member: RegExp, name: string][] = [
  [/^word\/document\.xml$/, 'a Word document'],
  [/^xl\/workbook\.xml$/, 'an Excel workbook'],
  [/^ppt\/presentation\.xml$/, 'a PowerPoint presentation'],
  [/^META-INF\/MANIFEST\.MF$/, 'a Java archive'],
  [/^META-INF\/container\.xml$/, 'an EPUB book'],
]

/** What an archive holds, a line for each member. */
export function archiveText(view: ArchiveView): string {
  const { path, size, format, entries, encrypted, count: members, bytes, begins } = view
  const what = `${path} is ${NAMES[format]} (${formatBytes(size)})`
  if (format === 'gzip') {
    if (begins === undefined) return `${what} of binary data.\nExpand it with Bash: ${EXPAND.gzip}.`
    return compose(`${what}. Its text begins:\n${begins}`, ['the rest: gzip -dc in Bash'])
  }
  const held =
    members === undefined ? '' : `: ${count(members, 'member')}${bytes === undefined ? '' : `, ${formatBytes(bytes)} expanded`}`
  const left =
    members === undefined
      ? 'more members follow'
      : members > entries.length
        ? `${members - entries.length} more members follow`
        : undefined
  return compose([`${what}${held}.`, ...entries.map(entryText)].join('\n'), [
    documentName(entries),
    encrypted ? 'some members are encrypted' : undefined,
    left,
    `expand it with Bash: ${EXPAND[format]}`,
  ])
}

function documentName(entries: readonly ArchiveEntry[]): string | undefined {
  const found = DOCUMENTS.find(([member]) => entries.some(({ path }) => member.test(path)))
  return found === undefined ? undefined : `it is ${found[1]}`
}

function entryText({ path, link, folder, size }: ArchiveEntry): string {
  // A name may hold anything, line ends included.
  const name = /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path
  if (link !== undefined) return `${'link'.padStart(10)}  ${name}${link === '' ? '' : ` -> ${JSON.stringify(link)}`}`
  return `${(folder ? 'folder' : formatBytes(size)).padStart(10)}  ${name}`
}
