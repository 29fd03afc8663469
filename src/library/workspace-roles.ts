import type { NestedStatus, ServerDeclaration } from '../workspace/nested-servers/port.ts'
import type {
  OffloadEntry,
  Offloaded,
  OffloadedBlock,
  OffloadedContext,
  Offloader,
  SweepOptions,
} from '../workspace/offload/offloader.ts'
import type { PortOptions } from '../workspace/ports.ts'
import type { AddedSkill, Skill, SkillListing } from '../workspace/skills/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { pathOf } from './defaults.ts'
import { type ArchiveInput, archiveBytes, type SkillArchiveOptions, type SkillOptions } from './skill-options.ts'

/** Whose nested servers are meant. */
export interface McpScope {
  agent?: string
  session?: string
}

/** What a workspace is besides a shell: nested servers, offloading and skills, over an open workspace held for each call. */
export abstract class WorkspaceRoles implements Offloader {
  /** The agent that calls are for unless they name one. */
  protected abstract get agent(): string
  /** Runs `use` with the open workspace; it is busy meanwhile. */
  protected abstract held<T>(use: (workspace: Workspace) => Promise<T>): Promise<T>

  /** Connects a nested MCP server and records it for the scope; unnamed ids mean the unnamed scope. A failed connect records nothing. */
  async addMcp(declaration: ServerDeclaration, scope: McpScope = {}, options?: PortOptions): Promise<NestedStatus> {
    return this.held(({ nested }) => nested.add(named(scope), declaration, options))
  }

  /** Ends a nested server of the scope and forgets it; gives whether there was one. */
  async removeMcp(name: string, scope: McpScope = {}): Promise<boolean> {
    return this.held(({ nested }) => nested.remove(named(scope), name))
  }

  /** The scope's nested servers with their state; waits for none of them. */
  async listMcps(scope: McpScope = {}): Promise<NestedStatus[]> {
    return this.held(({ nested }) => nested.list(named(scope)))
  }

  /** Appends messages to the session's `context.jsonl`; their data goes to `data/`. The messages stay as they are. */
  async offloadContext(session: string, messages: readonly unknown[], options?: PortOptions): Promise<OffloadedContext> {
    return this.held(({ offload }) => offload.offloadContext(session, messages, options))
  }

  /** Keeps a tool's result as a file of the session, for the agent to read later. */
  async offloadToolResult(session: string, result: unknown, options?: PortOptions): Promise<Offloaded> {
    return this.held(({ offload }) => offload.offloadToolResult(session, result, options))
  }

  /** Keeps a block's data as a file named by its content, and gives the block with a reference to it. */
  async offloadDataBlock(block: unknown, options?: PortOptions): Promise<OffloadedBlock> {
    return this.held(({ offload }) => offload.offloadDataBlock(block, options))
  }

  /** What has been offloaded, by one session or all. */
  async listOffloads(session?: string): Promise<OffloadEntry[]> {
    return this.held(({ offload }) => offload.list(session))
  }

  /** Removes what a session declared and offloaded, and ends its nested servers; unnamed ids mean the unnamed scope. */
  async purgeSession({ agent = '', session = '' }: { agent?: string; session?: string }): Promise<void> {
    await this.held(workspace => workspace.purgeSession({ agent, session }))
  }

  /** Removes an agent's skills and nested servers. */
  async purgeAgent(agent = ''): Promise<void> {
    await this.held(workspace => workspace.purgeAgent(agent))
  }

  /** Removes old blobs that nothing refers to any more. */
  async sweepOffloads(options?: SweepOptions): Promise<{ removed: string[]; bytes: number }> {
    return this.held(({ offload }) => offload.sweep(options))
  }

  /** The skills of an agent, and what was skipped and why. */
  async listSkills({ agent = this.agent, ...options }: SkillOptions = {}): Promise<SkillListing> {
    return this.held(({ skills }) => skills.list(agent, options))
  }

  /** Adds a skill from a folder or an archive of this host (`~` is filled in); the very same one is not added twice. */
  async addSkill(path: string | URL, { agent = this.agent, ...options }: SkillOptions = {}): Promise<AddedSkill> {
    return this.held(({ skills }) => skills.add(agent, { hostPath: pathOf(path) }, options))
  }

  /** Adds a skill from a zip, tar or tar.gz that is no file here. Where anything is wrong with it, nothing is left. */
  async addSkillArchive(input: ArchiveInput, options: SkillArchiveOptions = {}): Promise<AddedSkill> {
    const { agent = this.agent, format, maxExtractedBytes: maxBytes, signal } = options
    const archive = await archiveBytes(input)
    return this.held(({ skills }) => skills.add(agent, { archive, format }, { maxBytes, signal }))
  }

  /** Removes a skill by its name; it does not come back by itself. */
  async removeSkill(name: string, { agent = this.agent, ...options }: SkillOptions = {}): Promise<Skill> {
    return this.held(({ skills }) => skills.remove(agent, name, options))
  }
}

function named({ agent = '', session = '' }: McpScope): { agent: string; session: string } {
  return { agent, session }
}
