const NAMES: Readonly<Record<string, string>> = {
  'image/png': 'a PNG image',
  'image/jpeg': 'a JPEG image',
  'image/gif': 'a GIF image',
  'image/webp': 'a WebP image',
  'image/avif': 'an AVIF image',
  'image/heic': 'a HEIC image',
  'image/tiff': 'a TIFF image',
  'image/bmp': 'a BMP image',
  'image/x-icon': 'an icon',
  'application/pdf': 'a PDF',
  'application/zip': 'a zip archive',
  'application/gzip': 'gzip-compressed',
  'application/x-tar': 'a tar archive',
  'audio/wav': 'a WAV sound',
  'audio/mpeg': 'an MP3 sound',
  'audio/ogg': 'an Ogg sound',
  'audio/flac': 'a FLAC sound',
  'audio/mp4': 'an M4A sound',
  'audio/aac': 'an AAC sound',
  'audio/aiff': 'an AIFF sound',
}

/** A media type in words that follow "is". */
export function mediaName(mediaType: string | undefined): string {
  if (mediaType === undefined) return 'of unknown type'
  return NAMES[mediaType] ?? `of type ${mediaType}`
}
