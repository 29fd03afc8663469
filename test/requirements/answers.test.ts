import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { documentOf } from '../answers/document.ts'
import { FAILING } from '../answers/failing.ts'
import { normaliser } from '../answers/normalise.ts'
import { fillProject } from '../answers/project.ts'
import { Transcript } from '../answers/transcript.ts'
import { TYPICAL } from '../answers/typical.ts'
import { connect } from '../support/client.ts'
import { createWorld } from '../support/world.ts'

const DOCUMENT = new URL('../../docs/answers.md', import.meta.url)

const world = createWorld()

afterAll(() => world.dispose())

it('answers read as docs/answers.md shows them', { timeout: 180_000 }, async () => {
  expect(Math.min(TYPICAL.length, FAILING.length)).toBeGreaterThanOrEqual(40)
  fillProject(world.project)
  const client = await connect(world, 'stdio', { env: { ATELIER_SOFT_LIMIT_MS: '1000', ATELIER_OUTPUT_CHARS: '600' } })
  const transcript = new Transcript(client, { dir: world.project, normalise: normaliser(world) })
  const typical = await transcript.make(TYPICAL)
  const failing = await transcript.make(FAILING)
  const text = documentOf({ typical, failing })
  if (process.env.UPDATE !== undefined) writeFileSync(DOCUMENT, text)
  expect(text, 'UPDATE=1 writes docs/answers.md anew').toBe(readFileSync(DOCUMENT, 'utf8'))
})
