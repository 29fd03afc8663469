import type { TestClient } from '../support/client.ts'

/** One call whose answer is shown. */
export interface ShownCall {
  /** What an agent wants, in a few words. */
  says: string
  tool: string
  /** What the user answers to the question that the call asks them; absent: the client can't ask. */
  user?: 'accept' | 'decline' | 'cancel'
  /** `{name}` in a text stands for the job that an earlier call kept under that name. */
  args: Record<string, unknown>
  /** Keeps the job of the answer. */
  keep?: string
  /** Makes ready what no tool call does; `dir` is the project. */
  before?: (dir: string, client: TestClient) => void | Promise<void>
  /** Calls again until the answer holds this: what comes a moment later. */
  until?: RegExp
}
