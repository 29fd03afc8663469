import { Refusal } from './http.ts'

export interface Part {
  name: string
  body: Buffer
}

/** The parts of a `multipart/form-data` body. */
export function partsOf(body: Buffer, contentType = ''): Part[] {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1]
  if (boundary === undefined) throw new Refusal(400, 'INVALID_FILE', 'request Content-Type is not multipart/form-data')
  const mark = Buffer.from(`\r\n--${boundary}`)
  // The first boundary has no line end before it.
  const whole = Buffer.concat([Buffer.from('\r\n'), body])
  const parts: Part[] = []
  for (let at = whole.indexOf(mark); at >= 0; ) {
    const next = whole.indexOf(mark, at + mark.length)
    if (next < 0) break
    const part = whole.subarray(at + mark.length + 2, next)
    const headEnd = part.indexOf('\r\n\r\n')
    const name = /name="([^"]*)"/.exec(part.subarray(0, headEnd).toString())?.[1] ?? ''
    parts.push({ name, body: part.subarray(headEnd + 4) })
    at = next
  }
  return parts
}
