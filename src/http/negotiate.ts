/** Forms of answer that a client takes. */
export interface Accepted {
  json: boolean
  stream: boolean
}

/** The revision that a client without the header speaks. */
export const UNNAMED_PROTOCOL_VERSION = '2025-03-26'

/** From this revision on, streams start with an event that tells where to resume. */
export const primesStreams = (version: string): boolean => version >= '2025-11-25'

/** Up to this revision one POST may hold an array of messages. */
export const allowsBatches = (version: string): boolean => version <= '2025-03-26'

/** Reads an `Accept` header. A missing one, or a bare wildcard, takes JSON (and, on GET, a stream): such clients name nothing. */
export function accepted(header: string | undefined): Accepted {
  if (header === undefined || header.trim() === '') return { json: true, stream: false }
  const types = header
    .toLowerCase()
    .split(',')
    .filter(part => !/;\s*q=0(\.0*)?\s*(;|$)/.test(part))
    .map(part => part.split(';')[0]?.trim() ?? '')
  const has = (...names: string[]): boolean => names.some(name => types.includes(name))
  return { json: has('application/json', 'application/*', '*/*'), stream: has('text/event-stream', 'text/*') }
}

/** Whether a GET with this `Accept` takes an event stream. */
export function acceptsStream(header: string | undefined): boolean {
  return header === undefined || accepted(header).stream || /(^|,)\s*\*\/\*/.test(header)
}

/** Whether a body of this content type and encoding is plain JSON in UTF-8. */
export function isJsonBody(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.map(one => one.trim().replaceAll('"', '')).find(one => one.startsWith('charset='))
  const plain = contentEncoding === undefined || contentEncoding === 'identity'
  return type?.trim() === 'application/json' && (charset === undefined || /=utf-?8$/.test(charset)) && plain
}
