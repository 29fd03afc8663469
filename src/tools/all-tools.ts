import { bash } from './bash.ts'
import { bashInput } from './bash-input.ts'
import { bashOutput } from './bash-output.ts'
import { edit } from './edit.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { killBash } from './kill-bash.ts'
import { mcpAdd } from './mcp-add.ts'
import { mcpCall } from './mcp-call.ts'
import { mcpList } from './mcp-list.ts'
import { mcpRemove } from './mcp-remove.ts'
import { offloadContext } from './offload-context.ts'
import { offloadToolResult } from './offload-tool-result.ts'
import { read } from './read.ts'
import { skill } from './skill.ts'
import { skillAdd } from './skill-add.ts'
import { skillList } from './skill-list.ts'
import { skillRemove } from './skill-remove.ts'
import type { Tool } from './tool.ts'
import { workspaceClose } from './workspace-close.ts'
import { workspaceCreate } from './workspace-create.ts'
import { workspaceDelete } from './workspace-delete.ts'
import { workspaceList } from './workspace-list.ts'
import { workspaceReset } from './workspace-reset.ts'
import { workspaceStatus } from './workspace-status.ts'
import { workspaceUse } from './workspace-use.ts'
import { write } from './write.ts'

/** Every tool of Atelier's own, in the order that clients list them. */
export const TOOLS: readonly Tool[] = [
  bash,
  bashOutput,
  bashInput,
  killBash,
  read,
  write,
  edit,
  glob,
  grep,
  skill,
  skillList,
  skillAdd,
  skillRemove,
  workspaceCreate,
  workspaceList,
  workspaceStatus,
  workspaceUse,
  workspaceClose,
  workspaceReset,
  workspaceDelete,
  mcpList,
  mcpAdd,
  mcpRemove,
  mcpCall,
  offloadContext,
  offloadToolResult,
] as readonly Tool[]
