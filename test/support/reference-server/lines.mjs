import { StringDecoder } from 'node:string_decoder'

/**
 * Calls `onLine` with each line of a stream, and `onEnd` once it has ended. Lines end at a newline and nowhere else:
 * `readline` also cuts at U+2028, which JSON holds as it is.
 */
export function onLines(stream, onLine, onEnd = () => {}) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  stream.on('data', chunk => {
    const [first, ...others] = decoder.write(chunk).split('\n')
    rest += first
    for (const next of others) {
      onLine(rest)
      rest = next
    }
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
    onEnd()
  })
}
