import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { direct, dockerImage, nested, removeContainers } from '../support/reference-places.ts'
import { type Reference, SCENARIOS, transcript, wholeLists } from '../support/reference-scenarios.ts'
import { createWorld, type World } from '../support/world.ts'

const START_MS = 120_000
/** How the reference server is reached; each run must give what the direct one gives. */
const WAYS = ['local', 'docker'] as const

let world: World
let plain: Reference
let names: string[]
const expected: string[][] = []

beforeAll(async () => {
  world = createWorld()
  plain = await direct(world)
  for (const scenario of SCENARIOS) expected.push(await transcript(plain, scenario))
}, START_MS)
afterAll(() => world.dispose(), START_MS)

describe('the reference server, directly', () => {
  it('answers in every scenario, and uses every feature', () => {
    const all = expected.flat().join('\n')
    for (const [index, messages] of expected.entries()) expect(messages.length, SCENARIOS[index]?.name).toBeGreaterThan(0)
    const features = [
      'sampling/createMessage',
      'elicitation/create',
      'roots/list',
      'notifications/message',
      'notifications/progress',
    ]
    const more = ['notifications/resources/updated', 'notifications/tasks/status', 'notifications/elicitation/complete']
    for (const method of [...features, ...more, 'notifications/cancelled']) expect(all, method).toContain(`"${method}"`)
    for (const type of ['text', 'image', 'audio', 'resource', 'resource_link']) expect(all).toContain(`"type":"${type}"`)
  })

  it('pages its lists', async () => {
    const { result } = await plain.client.request('tools/list', {})
    expect(result?.nextCursor).toBeTypeOf('string')
  })
})

describe.each(WAYS)('the reference server, nested on %s', backend => {
  let own: World
  let place: Reference | undefined
  let reason: string | undefined

  beforeAll(async () => {
    own = createWorld()
    const docker = backend === 'docker' ? dockerImage() : undefined
    if (docker !== undefined && 'reason' in docker) reason = docker.reason
    else {
      if (docker !== undefined) own.onDispose(() => removeContainers(own))
      place = await nested(own, backend, docker === undefined ? {} : { args: ['--image', docker.image] })
    }
    const lists = await wholeLists(plain, [])
    names = [...(lists.tools ?? []), ...(lists.prompts ?? [])].map(({ name }) => String(name))
  }, START_MS)
  afterAll(async () => {
    await own.dispose()
  }, START_MS)

  const check = (name: string, body: (there: Reference) => Promise<void>) =>
    it(name, { timeout: START_MS }, async context => (place === undefined ? context.skip(reason) : body(place)))

  check('has the same lists', async there => {
    const [here, through] = [await wholeLists(plain, names), await wholeLists(there, names)]
    expect(through).toEqual(here)
    for (const [key, items] of Object.entries(here)) expect(items.length, key).toBeGreaterThan(1)
  })

  for (const [index, scenario] of SCENARIOS.entries()) {
    check(`${index + 1}: ${scenario.name}`, async there => {
      expect(await transcript(there, scenario)).toEqual(expected[index])
    })
  }

  check('keeps calls at the same time apart', async ({ client, name }) => {
    const from = client.received.length
    const calls = ['a', 'b', 3].map(progressToken =>
      client.send('tools/call', { name: name('burst'), arguments: {}, _meta: { progressToken } }),
    )
    await Promise.all(calls.map(id => client.answer(id)))
    const came = client.received.slice(from)
    for (const [index, progressToken] of ['a', 'b', 3].entries()) {
      const own = came.filter(({ params }) => params?.progressToken === progressToken).map(({ params }) => params?.progress)
      expect(own).toEqual(Array.from({ length: 50 }, (_, step) => step + 1))
      const last = came.findLastIndex(({ params }) => params?.progressToken === progressToken)
      expect(came.findIndex(({ id, method }) => id === calls[index] && method === undefined)).toBeGreaterThan(last)
    }
  })

  check('tells of changed lists, once they are the new ones', async there => {
    const changed = async (): Promise<void> => {
      const from = there.client.received.length
      await there.client.request('tools/call', { name: there.name('toggle'), arguments: {} })
      for (const kind of ['tools', 'prompts', 'resources']) {
        await there.client.until(({ method }) => method === `notifications/${kind}/list_changed`, from)
      }
    }
    const more = [...names, 'extra_tool', 'extra_prompt']
    await changed()
    const lists = await wholeLists(there, more)
    expect(lists.tools?.map(({ name }) => name)).toContain('extra_tool')
    expect(lists.prompts?.map(({ name }) => name)).toContain('extra_prompt')
    expect(lists.resources?.map(({ name }) => name)).toContain('extra')
    await changed()
    expect((await wholeLists(there, more)).tools?.map(({ name }) => name)).not.toContain('extra_tool')
  })
})
