import { readFileSync, writeFileSync } from 'node:fs'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, expect, it } from 'vitest'
import { documentOf } from '../answers/document.ts'
import { FAILING } from '../answers/failing.ts'
import { normaliser, SOFT_LIMIT_MS } from '../answers/normalise.ts'
import { fillProject } from '../answers/project.ts'
import { type AskingClient, Transcript } from '../answers/transcript.ts'
import { TYPICAL } from '../answers/typical.ts'
import { connect } from '../support/client.ts'
import { createWorld } from '../support/world.ts'

const DOCUMENT = new URL('../../docs/answers.md', import.meta.url)
const env = { ATELIER_SOFT_LIMIT_MS: String(SOFT_LIMIT_MS), ATELIER_OUTPUT_CHARS: '600' }

const world = createWorld()

afterAll(() => world.dispose())

/** A client whose user answers as a call says. */
async function askingClient(): Promise<AskingClient> {
  const client = await connect(world, 'stdio', { env, client: { capabilities: { elicitation: { form: {} } } } })
  const asking: AskingClient = { ...client, next: 'cancel' }
  client.client.setRequestHandler(ElicitRequestSchema, () => ({
    action: asking.next,
    ...(asking.next === 'accept' && { content: {} }),
  }))
  return asking
}

it('answers read as docs/answers.md shows them', { timeout: 240_000 }, async () => {
  expect(Math.min(TYPICAL.length, FAILING.length)).toBeGreaterThanOrEqual(40)
  fillProject(world.project)
  const client = await connect(world, 'stdio', { env })
  const asking = await askingClient()
  const transcript = new Transcript(client, { dir: world.project, asking, normalise: normaliser(world) })
  const typical = await transcript.make(TYPICAL)
  const failing = await transcript.make(FAILING)
  const text = documentOf({ typical, failing })
  if (process.env.UPDATE !== undefined) writeFileSync(DOCUMENT, text)
  expect(typical.filter(({ isError }) => isError)).toEqual([])
  expect(failing.filter(({ isError }) => !isError)).toEqual([])
  expect(text, 'UPDATE=1 writes docs/answers.md anew').toBe(readFileSync(DOCUMENT, 'utf8'))
})
