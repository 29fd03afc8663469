/** Bounds of reading files that are no plain text. Times in ms, sizes in bytes. */
export const READING_LIMITS = {
  /** Resident memory of a reader; it ends itself beyond. */
  memoryBytes: 200 * 1024 ** 2,
  /** Processor time of a reader; it ends itself beyond. */
  workMs: 4_500,
  /** Pages of a PDF in one answer, all together. */
  pagesMs: 3_500,
  /** A reader that has not answered by then is ended; without the time in which it waits for the file. */
  answerMs: 30_000,
  /** Readers of one workspace at once. */
  readers: 2,
  /** An image file is read whole. */
  imageFileBytes: 24 * 1024 ** 2,
  /** A notebook is read whole. */
  notebookBytes: 32 * 1024 ** 2,
  /** Longer edge of a shown image, in pixels. */
  imageEdge: 2_000,
  pageEdge: 1_568,
  /** One image of a page or a notebook. */
  partImageBytes: 1024 ** 2,
  /** Images of pages in one answer, all together. */
  pagesBytes: 8 * 1024 ** 2,
  notebookImages: 10,
  /** Pages of a PDF that are read without being asked for, and at most. */
  pagesUnasked: 10,
  pagesAtOnce: 20,
  archiveEntries: 200,
} as const
