/** A tool as `tools/list` shows it. */
export interface ToolDeclaration {
  name: string
  [field: string]: unknown
}

declare const __TOOLS__: readonly ToolDeclaration[]

/** Our own tools: written into the bundle by the build, made from their schemas when run from source. */
export async function ownTools(): Promise<readonly ToolDeclaration[]> {
  if (typeof __TOOLS__ !== 'undefined') return __TOOLS__
  const { toolDeclarations } = await import('../tools/schema.ts')
  return toolDeclarations()
}
