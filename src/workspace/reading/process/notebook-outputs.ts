import { TextScreen } from '../../../lib/text-screen.ts'
import { READING_LIMITS } from '../reading-limits.ts'
import type { NotebookOutput } from '../view.ts'
import { type Fields, isFields, textOf } from './notebook-json.ts'
import type { ImageBounds } from './protocol.ts'
import { readImage } from './read-image.ts'
import { Refusal } from './refusal.ts'
import type { Room } from './room.ts'

const MAX_OUTPUTS = 50
/** Characters of an output before its escape sequences are taken away. */
const MAX_LOOKED_AT = 100_000
const IMAGES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const TEXTS = ['text/plain', 'text/markdown', 'text/latex', 'application/json', 'text/html', 'image/svg+xml']

interface Making {
  room: Room
  bounds: ImageBounds
}

/** A cell's outputs, and the images attached to its text. */
export async function outputsOf(cell: Fields, making: Making): Promise<{ outputs: NotebookOutput[]; more: number }> {
  const attached = Object.entries(isFields(cell.attachments) ? cell.attachments : {})
  const bundles = attached.map(([name, data]) => ({ label: `attachment ${name.slice(0, 100)}`, data }))
  const outputs: NotebookOutput[] = []
  for (const { label, data } of bundles.slice(0, MAX_OUTPUTS)) outputs.push(await ofBundle(label, data, making))
  const given = Array.isArray(cell.outputs) ? cell.outputs.filter(isFields) : []
  for (const output of given.slice(0, MAX_OUTPUTS - outputs.length)) outputs.push(await readOutput(output, making))
  return { outputs, more: given.length + bundles.length - outputs.length }
}

async function readOutput(output: Fields, making: Making): Promise<NotebookOutput> {
  const { room } = making
  switch (output.output_type) {
    case 'stream':
      return { label: output.name === 'stderr' ? 'stderr' : 'stdout', ...asShown(textOf(output.text), room) }
    case 'error':
      return { label: 'error', ...errorText(output, room) }
    default:
      return ofBundle(output.output_type === 'execute_result' ? 'result' : 'display', output.data, making)
  }
}

function errorText({ ename, evalue, traceback }: Fields, room: Room): { text: string; cut: number } {
  const lines = Array.isArray(traceback) ? traceback.filter(line => typeof line === 'string') : []
  return lines.length > 0 ? asShown(lines.join('\n'), room) : room.fit(`${ename}: ${evalue}`)
}

/** One content in several forms: an image where there is one, else the plainest text. */
async function ofBundle(label: string, data: unknown, making: Making): Promise<NotebookOutput> {
  if (!isFields(data)) return { label, cut: 0, why: 'no content' }
  const image = IMAGES.find(type => data[type] !== undefined)
  if (image !== undefined) return { label, ...(await imageOf(image, textOf(data[image]), making)) }
  const type = TEXTS.find(known => data[known] !== undefined)
  if (type === undefined)
    return { label, cut: 0, why: `not shown: ${Object.keys(data).join(', ').slice(0, 200) || 'no content'}` }
  const value = data[type]
  const text = isFields(value) ? JSON.stringify(value) : textOf(value)
  return { label: type === 'text/plain' ? label : `${label}, ${type}`, ...asShown(text, making.room) }
}

async function imageOf(
  mediaType: string,
  base64: string,
  { room, bounds }: Making,
): Promise<Pick<NotebookOutput, 'image' | 'why' | 'cut'>> {
  const unshown = (why: string) => ({ cut: 0, why: `${mediaType}, not shown: ${why}` })
  if (room.images === 0) return unshown('an answer holds no more images; read this cell alone')
  if (base64.length > READING_LIMITS.imageFileBytes) return unshown(`its base64 has ${base64.length} characters`)
  try {
    const { image } = await readImage(Buffer.from(base64, 'base64'), bounds)
    room.images -= 1
    return { image, cut: 0 }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return unshown([error.message, error.answer.hint].filter(Boolean).join(' '))
  }
}

/** Output as a terminal would show it, as much as there is room for. */
function asShown(text: string, room: Room): { text: string; cut: number } {
  const lines: Buffer[] = []
  const screen = new TextScreen(bytes => lines.push(Buffer.from(bytes)))
  // Nothing is done to what is left out anyway.
  screen.push(Buffer.from(text.slice(0, MAX_LOOKED_AT)))
  screen.end()
  const { text: shown, cut } = room.fit(Buffer.concat(lines).toString())
  return { text: shown, cut: cut + Math.max(0, text.length - MAX_LOOKED_AT) }
}
