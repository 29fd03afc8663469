/** `text` as one word of a POSIX shell. */
export function quote(text: string): string {
  return /^[\w/.,+@:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Bytes (one character each) as one word of bash, in plain ASCII. */
export function quoteBytes(bytes: string): string {
  const body = bytes.replace(/[^ -&(-[\]-~]/g, c => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `$'${body}'`
}

/** A string as its UTF-8 bytes, one character each: the form in which shell state is kept. */
export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** The text of UTF-8 bytes, or nothing where they are no UTF-8 and so can't be passed by Node. */
export function fromBytes(bytes: string): string | undefined {
  const raw = Buffer.from(bytes, 'latin1')
  const text = raw.toString('utf8')
  return text.includes('\ufffd') && !Buffer.from(text, 'utf8').equals(raw) ? undefined : text
}
