import type { ZodType, z } from 'zod'
import type { Offload } from '../workspace/offload/offloader.ts'
import type { Files, Search, Shell } from '../workspace/ports.ts'
import type { Viewer } from '../workspace/reading/port.ts'
import type { Skills } from '../workspace/skills/port.ts'
import type { NestedTools } from './nested-tools.ts'
import type { WorkspaceDirectory } from './workspace-directory.ts'

/** What a tool says of itself to clients (MCP's hints, by their own names). */
export interface ToolAnnotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Content beside the text, already in a shape that any MCP client takes. */
export type ExtraContent =
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string; size?: number }

/** The log that an answer is about, by its path or by its job; with its size where it grows no more. */
export type LogReference = { path: string; bytes?: number | undefined } | { job: string; path?: undefined; bytes?: undefined }

/** A tool's answer. `text` is whole by itself; `structured`, where given, contains nothing that the text lacks. */
export interface ToolAnswer {
  text: string
  isError?: boolean
  structured?: Record<string, unknown>
  content?: ExtraContent[]
  /** Is given to clients as a link. */
  log?: LogReference | undefined
  /** `false`: it is a part of a file already, and is never moved to another. */
  offload?: false
}

/** The ports of one workspace, as a tool sees them. */
export interface WorkspacePorts {
  readonly id: string
  readonly shell: Shell
  readonly files: Files
  readonly viewer: Viewer
  readonly search: Search
  readonly offload: Offload
  readonly skills: Skills
}

/** Questions to the person at the client. */
export interface Confirmation {
  /** Asks one that is answered by yes or no. `dismissed`: it was not answered; `impossible`: the client failed to ask. */
  ask(question: string): Promise<'confirmed' | 'declined' | 'dismissed' | 'impossible'>
  /** What was asked for in this session and not answered. */
  readonly leftOpen: Set<string>
}

export interface ToolContext {
  /** Key of shell state, read-state and read positions: random per client connection. */
  readonly session: string
  /** Names the folder under `sessions/`: the client's own session id, else `session`. */
  readonly conversation: string
  /** Whose skills are meant; '' where the client named no agent. */
  readonly agent: string
  readonly signal: AbortSignal
  /** The workspace that the call is for; made or attached at the first use. Throws what `acquire` throws. */
  workspace(): Promise<WorkspacePorts>
  /** The nested servers of the call's workspace, opened at the first use. */
  nested(): Promise<NestedTools>
  /** Life cycle of workspaces, for the `workspace_*` tools. */
  readonly directory: WorkspaceDirectory
  /** Output while the tool runs, where the client asked for progress. */
  readonly onProgress: ((text: string) => void) | undefined
  /** Absent where the client can't ask. */
  readonly confirmation?: Confirmation | undefined
}

/** One tool, free of the MCP SDK. Its schema is strict: unknown arguments are refused by name. */
export interface Tool<S extends ZodType = ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: S
  readonly annotations: ToolAnnotations
  /** Largest result that a client should keep in its context, in characters. */
  readonly maxResultChars?: number
  /** A client may ask for it as a task. */
  readonly asTask?: true
  /** Whether `workspace?` is added to the inputs. */
  readonly takesWorkspace: boolean
  run(input: z.output<S>, context: ToolContext): Promise<ToolAnswer>
}

/** Checks a tool's shape at compile time and gives it back. */
export function defineTool<S extends ZodType>(tool: Tool<S>): Tool<S> {
  return tool
}

/** Takes sentences, each as a line of progress. */
export function bySentence(onProgress: ToolContext['onProgress']): ((sentence: string) => void) | undefined {
  return onProgress && (sentence => onProgress(`${sentence}\n`))
}
