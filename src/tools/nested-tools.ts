import type { NestedStatus, ServerDeclaration } from '../workspace/nested-servers/port.ts'

/** A nested tool as the client may call it. */
export interface ShownTool {
  /** Under which name `tools/list` has it; absent for a hidden server. */
  shown?: string
  /** The server's own name for it, which `mcp_call` takes. */
  name: string
  description?: string
  inputSchema?: unknown
}

/** Port for the `mcp_*` tools: the nested servers of one scope in one workspace. */
export interface NestedTools {
  list(): Promise<NestedStatus[]>
  add(declaration: ServerDeclaration, options?: { signal?: AbortSignal }): Promise<NestedStatus>
  /** Whether there was such a server. */
  remove(name: string): Promise<boolean>
  /** Tools of a server, started for it where its list is not known. Throws `not_found`, or why it can't be started. */
  tools(server: string, options?: { signal?: AbortSignal }): Promise<ShownTool[]>
}
