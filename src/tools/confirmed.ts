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

/**
 * Removes once it is confirmed: by the person at the client, where the client can ask, else by the argument `confirm`. What the person
 * declines stays. Where they leave the question open, the argument counts in the next call: some clients answer so without asking.
 */
export async function confirmed(
  { tool, verb, plan, run }: Removal,
  { confirm, confirmation }: { confirm: boolean | undefined; confirmation: Confirmation | undefined },
): Promise<ToolAnswer> {
  if (confirmation === undefined) return byArgument()
  const planned = await plan()
  const { id, name } = planned.summary
  const asked = `${tool} ${id}`
  if (confirmation.leftOpen.delete(asked) && confirm) return done()
  switch (await confirmation.ask(questionText(planned, verb))) {
    case 'confirmed':
      return done()
    case 'declined':
      return refused(`The user declined: ${name} was left as it is. Go on without it, or ask the user what to do instead.`)
    case 'dismissed':
      confirmation.leftOpen.add(asked)
      return refused(
        `The user was asked and did not answer: ${name} was left as it is. Ask them yourself, in the conversation. Only if they say yes, call ${tool} again with workspace ${JSON.stringify(id)} and confirm: true; that asks no more.`,
      )
    case 'impossible':
      return byArgument()
  }

  async function done(): Promise<ToolAnswer> {
    return { text: planText(await run(), verb) }
  }

  async function byArgument(): Promise<ToolAnswer> {
    return confirm ? done() : { text: planText(await plan(), verb, tool) }
  }
}

function refused(text: string): ToolAnswer {
  return { text, isError: true }
}
