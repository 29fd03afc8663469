import type { Confirmation, ToolAnswer } from './tool.ts'
import type { RemovalPlan } from './workspace-directory.ts'
import { planText, questionText } from './workspace-text.ts'

export interface Removal {
  /** Name of the tool, to be called again with `confirm`. */
  tool: string
  verb: { would: string; done: string }
  plan(): Promise<RemovalPlan>
  run(): Promise<RemovalPlan>
}

/** Removes once it is confirmed: by the person at the client, where the client can ask, else by the argument `confirm`. */
export async function confirmed(
  { tool, verb, plan, run }: Removal,
  { confirm, confirmation }: { confirm: boolean | undefined; confirmation: Confirmation | undefined },
): Promise<ToolAnswer> {
  if (confirmation === undefined) return byArgument()
  const planned = await plan()
  const { name } = planned.summary
  switch (await confirmation(questionText(planned, verb))) {
    case 'confirmed':
      return { text: planText(await run(), verb) }
    case 'declined':
      return refused(`The user declined: ${name} was left as it is. Go on without it, or ask the user what to do instead.`)
    case 'dismissed':
      return refused(
        `The user did not answer the question: ${name} was left as it is. Call ${tool} again once the user wants it.`,
      )
    case 'impossible':
      return byArgument()
  }

  async function byArgument(): Promise<ToolAnswer> {
    return confirm ? { text: planText(await run(), verb) } : { text: planText(await plan(), verb, tool) }
  }
}

function refused(text: string): ToolAnswer {
  return { text, isError: true }
}
