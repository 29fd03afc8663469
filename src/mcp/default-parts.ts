import { createWorkspaceDirectory } from '../manager/directory.ts'
import type { Manager } from '../manager/manager.ts'
import { renderInstructions } from '../workspace/instructions.ts'
import type { SessionParts } from './session-context.ts'
import { ownTools } from './tool-list.ts'

/** The real tools, workspace directory and instructions. The tools are loaded by the first call: they bring their schemas. */
export function defaultParts(manager: Manager): SessionParts {
  return {
    tools: {
      list: ownTools,
      prepare: () => import('../tools/index.ts'),
      run: async (name, args, context) => {
        const { runTool } = await import('../tools/index.ts')
        return runTool(name, args, context)
      },
    },
    directory: (scope, state) => createWorkspaceDirectory(manager, scope, state),
    instructions: info => renderInstructions(info),
  }
}
