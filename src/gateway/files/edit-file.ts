import { WorkspaceError } from '../../lib/errors.ts'
import type { EditParams, EditResult } from '../protocol.ts'
import { readWhole } from './byte-source.ts'
import { decode, detect, type Encoding, encode, expectWellFormed } from './encoding.ts'
import { expectKnown, fingerprint, fingerprintWritten } from './known-content.ts'
import type { Location } from './locate.ts'
import { missing } from './near-names.ts'
import { nearest } from './nearest.ts'
import { type FileStat, openRegular, statBig } from './open-regular.ts'
import type { ReadState } from './read-state.ts'
import { replaceFile } from './replace-file.ts'
import { occurrences, splice } from './splice.ts'
import { countNewlines, type LineEnds, normalise, restore } from './text-lines.ts'
import { existsAt, one, writeFile } from './write-file.ts'

const EDIT_LIMIT = 64 * 1024 * 1024
const CONTEXT = 3
const MAX_EXCERPT = 40
const MAX_EXCERPT_LINE = 500
const MAX_LISTED = 10

/** An existing text file, as it is edited. */
interface Subject {
  location: Location
  stat: FileStat
  encoding: Encoding
  bom: boolean
  content: LineEnds
}

/** Replaces text in a file that the session has read; the caller holds the queue of its real path. */
export async function editFile(location: Location, params: EditParams, state: ReadState): Promise<EditResult> {
  if (params.oldString === params.newString)
    throw new WorkspaceError(
      'invalid_argument',
      `Nothing to change in ${location.path}: the old and the new text are the same.`,
      {
        hint: 'Give the text that shall stand there as new_string.',
      },
    )
  if (params.oldString === '') return fillEmpty(location, params, state)
  const subject = await open(location, params, state)
  if (!subject.encoding.startsWith('utf-16')) {
    expectWellFormed(params.oldString, 'old text', location.path)
    expectWellFormed(params.newString, 'new text', location.path)
  }
  const change = likeFile(subject, params)
  const starts = occurrences(subject.content.text, change.from)
  if (starts.length === 0) throw notFound(subject, change.from)
  if (starts.length > 1 && !params.replaceAll) throw notUnique(subject, starts)
  const after = splice(subject.content, starts, change)
  const bytes = encode(restore(after), subject.encoding, subject.bom)
  if (bytes === undefined) throw notRepresentable(subject)
  await replaceFile(location.real, one(bytes), { path: location.path, existing: subject.stat })
  state.remember(params.session, location.real, fingerprintWritten(bytes, await statBig(location.real)))
  const excerpt = excerptOf(after.text, starts[0]!, starts[0]! + change.to.length)
  return { path: location.path, replacements: starts.length, excerpt, created: false, notices: [] }
}

/** An empty old text makes a file that is missing or empty. */
async function fillEmpty(location: Location, params: EditParams, state: ReadState): Promise<EditResult> {
  if (await existsAt(location)) {
    const { handle, stat } = await openRegular(location)
    await handle.close()
    if (stat.size > 0n)
      throw new WorkspaceError(
        'already_exists',
        `${location.path} exists and is not empty, so an empty old text does not say what to replace.`,
        {
          hint: 'Give the text to replace, or use Write to replace the whole file.',
        },
      )
  }
  const { session } = params
  const written = await writeFile(location, { path: params.path, session, content: params.newString }, state)
  const excerpt = excerptOf(normalise(params.newString).text, 0, 0)
  return { path: location.path, replacements: 1, excerpt, created: written.created, notices: written.notices }
}

async function open(location: Location, params: EditParams, state: ReadState): Promise<Subject> {
  if (!(await existsAt(location))) throw await missing(location.path)
  const file = await openRegular(location)
  try {
    if (file.stat.size > BigInt(EDIT_LIMIT))
      throw new WorkspaceError(
        'too_large',
        `${location.path} has ${file.stat.size} bytes; Edit takes files up to ${EDIT_LIMIT}.`,
        {
          hint: 'Change it with `sed -i` in Bash.',
        },
      )
    const bytes = await readWhole(file, EDIT_LIMIT + 1)
    const { session } = params
    expectKnown(state, { session, real: location.real, path: location.path }, await fingerprint(file, bytes))
    const form = detect(bytes, true)
    if (form.kind === 'binary')
      throw new WorkspaceError(
        'unsupported',
        `${location.path} is a binary file${form.mediaType ? ` (${form.mediaType})` : ''}.`,
        {
          hint: 'Change it with a program in Bash.',
        },
      )
    const content = normalise(decode(bytes.subarray(form.bomBytes), form.encoding))
    return { location, stat: file.stat, encoding: form.encoding, bom: form.bomBytes > 0, content }
  } finally {
    await file.handle.close()
  }
}

/** The old and new text with ends of lines as the normal form of the file has them. */
function likeFile({ content }: Subject, { oldString, newString }: EditParams): { from: string; to: string } {
  const oneLine = content.ends === '\n' && !content.text.includes('\n')
  const form = (text: string) => (content.ends === '\r' ? text.replace(/\r\n?/g, '\n') : text.replaceAll('\r\n', '\n'))
  return { from: form(oldString), to: oneLine ? newString : form(newString) }
}

function notUnique({ location, content }: Subject, starts: readonly number[]): WorkspaceError {
  const lines: number[] = []
  let line = 1
  let at = 0
  for (const start of starts.slice(0, MAX_LISTED)) {
    line += countNewlines(content.text, at, start)
    at = start
    lines.push(line)
  }
  const more = starts.length > lines.length ? ', …' : ''
  return new WorkspaceError(
    'invalid_argument',
    `The old text occurs ${starts.length} times in ${location.path} (lines ${lines.join(', ')}${more}).`,
    { hint: 'Give more of the surrounding lines so that it is unique, or set replace_all.' },
  )
}

function notFound({ location, content }: Subject, wanted: string): WorkspaceError {
  const near = nearest(content.text, wanted)
  const message = `The old text does not occur in ${location.path}.`
  if (near === undefined)
    return new WorkspaceError('invalid_argument', message, { hint: 'Read the file again and copy the text exactly.' })
  const where = near.from === near.to ? `line ${near.from}` : `lines ${near.from}-${near.to}`
  const differs = near.differs === undefined ? 'is only similar' : `differs in ${near.differs}`
  return new WorkspaceError('invalid_argument', `${message} The nearest place, ${where}, ${differs}:\n${near.excerpt}`, {
    hint: 'Copy the text exactly as the file has it (without line numbers).',
  })
}

function notRepresentable({ location, encoding }: Subject): WorkspaceError {
  return new WorkspaceError(
    'invalid_argument',
    `${location.path} is ${encoding}, which cannot hold some characters of the new text.`,
    {
      hint: `Convert it first, e.g. \`iconv -f ${encoding === 'latin1' ? 'ISO-8859-1' : encoding} -t UTF-8\`, and read it again.`,
    },
  )
}

/** Numbered lines from three before offset `from` to three after offset `to`. */
function excerptOf(text: string, from: number, to: number): EditResult['excerpt'] {
  const first = countNewlines(text, 0, from) + 1
  const last = first + countNewlines(text, from, to)
  let start = from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1
  for (let i = 0; i < CONTEXT && start > 0; i++) start = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  const line = countNewlines(text, 0, start) + 1
  const wanted = Math.min(MAX_EXCERPT, last + CONTEXT - line + 1)
  const lines: string[] = []
  for (let at = start; lines.length < wanted && at < text.length; ) {
    const end = text.indexOf('\n', at)
    lines.push(text.slice(at, Math.min(end === -1 ? text.length : end, at + MAX_EXCERPT_LINE)).replace(/[\ud800-\udbff]$/, ''))
    if (end === -1) break
    at = end + 1
  }
  return lines.map((content, i) => ({ line: line + i, text: content }))
}
