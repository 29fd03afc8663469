import { builtPath, builtPlaces } from '../lib/built-path.ts'
import { WorkspaceError } from '../lib/errors.ts'

/** Path of the built gateway program: beside the bundle that runs, or in `dist` when run from source. */
export function gatewayScript(): string {
  const found = builtPath('gateway.mjs')
  if (found !== undefined) return found
  throw new WorkspaceError(
    'precondition_failed',
    `The gateway program was not found in ${builtPlaces('gateway.mjs').join(', ')}`,
    {
      hint: 'Build it: npm run build.',
    },
  )
}
