/** A red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** Silence. */
export const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=='
export const BLOB = Buffer.from([0, 1, 2, 253, 254, 255]).toString('base64')

export const text = (value, more = {}) => ({ type: 'text', text: value, ...more })
export const image = { type: 'image', data: PNG, mimeType: 'image/png' }
export const audio = { type: 'audio', data: WAV, mimeType: 'audio/wav' }
export const embedded = {
  type: 'resource',
  resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
}
