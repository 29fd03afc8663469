import type { FullClient, Message } from './full-client.ts'

type Params = Record<string, unknown>

/** A client of the reference server, directly or through Atelier. */
export interface Reference {
  client: FullClient
  /** How the server's tools and prompts are called here. */
  name(own: string): string
}

/** One exchange; `run` resolves when all that belongs to it has come. */
export interface Scenario {
  name: string
  run(place: Reference): Promise<unknown>
}

const call = ({ client, name }: Reference, tool: string, args: Params = {}, more: Params = {}) =>
  client.request('tools/call', { name: name(tool), arguments: args, ...more })

const scenario = (name: string, run: Scenario['run']): Scenario => ({ name, run })

/** One call of a tool. */
const tool = (name: string, args: Params = {}, more: Params = {}): Scenario =>
  scenario(`the tool ${name} ${JSON.stringify({ ...args, ...more })}`, place => call(place, name, args, more))

const request = (method: string, params: Params): Scenario =>
  scenario(`${method} ${JSON.stringify(params)}`, ({ client }) => client.request(method, params))

const prompt = (name: string, args?: Params): Scenario =>
  scenario(`the prompt ${name}`, place =>
    place.client.request('prompts/get', { name: place.name(name), ...(args && { arguments: args }) }),
  )

const token = (progressToken: unknown) => ({ _meta: { progressToken, 'example.com/kept': [null] } })

const CONTENT = [
  tool('test_simple_text'),
  tool('test_image_content'),
  tool('test_audio_content'),
  tool('test_embedded_resource'),
  tool('test_multiple_content_types'),
  tool('every_content'),
  tool('structured', { a: 3, b: 4 }),
  tool('test_error_handling'),
  tool('rpc_error'),
  tool('no_such_tool'),
  tool(
    'echo',
    { deep: { list: [1, null, { x: [] }], 'odd key': '"\\ü🎈\u2028' } },
    { _meta: { 'example.com/m': { kept: true } } },
  ),
  tool('json_schema_2020_12_tool'),
  tool('dotted.name/odd'),
  tool('a_tool_whose_name_is_much_longer_than_any_client_would_take'),
]

const PROGRESS = [
  tool('test_tool_with_progress', {}, token('a-token')),
  ...['', 0, -1, 7, '12'].map(given => tool('burst', {}, token(given))),
  tool('burst'),
  tool('test_tool_with_logging'),
  tool('test_reconnection'),
  scenario('logging at a level', async place => {
    await place.client.request('logging/setLevel', { level: 'debug' })
    return call(place, 'level')
  }),
]

const QUESTIONS = [
  tool('test_sampling', { prompt: 'Hello' }),
  tool('sample', {}, token('t')),
  tool('sample', { tools: true }),
  tool('sample_slowly'),
  tool('test_elicitation', { message: 'Who?' }),
  tool('test_elicitation_sep1034_defaults'),
  tool('test_elicitation_sep1330_enums'),
  tool('elicit_url'),
  tool('ask', { method: 'roots/list' }),
  tool('ask', { method: 'example.com/unknown', params: { kept: [1] } }),
  scenario('a question that the server takes back', async place => {
    place.client.ignore('elicitation/create')
    await call(place, 'take_back')
    place.client.heed('elicitation/create')
  }),
  scenario('changed roots', async ({ client }) => {
    const from = client.received.length
    client.notify('notifications/roots/list_changed')
    await client.until(({ method }) => method === 'notifications/message', from)
  }),
]

const RESOURCES = [
  ...['static-text', 'static-binary', 'blob', 'watched-resource', 'numbered/4', 'template/123/data', 'deep/a/b%20c?q=1'].map(
    path => request('resources/read', { uri: `test://${path}` }),
  ),
  request('resources/read', { uri: 'test://nothing' }),
  request('resources/subscribe', { uri: 'test://watched-resource' }),
  tool('touch'),
  request('resources/unsubscribe', { uri: 'test://watched-resource', _meta: { kept: 1 } }),
  tool('touch'),
]

const PROMPTS = [
  prompt('test_simple_prompt'),
  prompt('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' }),
  prompt('test_prompt_with_embedded_resource', { resourceUri: 'test://x' }),
  prompt('test_prompt_with_image'),
  prompt('conversation'),
  prompt('no_such_prompt'),
  scenario('completion of a prompt', ({ client, name }) =>
    client.request('completion/complete', {
      ref: { type: 'ref/prompt', name: name('test_prompt_with_arguments') },
      argument: { name: 'arg2', value: 'par' },
      context: { arguments: { arg1: 'x' } },
    }),
  ),
  request('completion/complete', {
    ref: { type: 'ref/resource', uri: 'test://template/{id}/data' },
    argument: { name: 'id', value: 'par' },
  }),
]

const TASKS = [
  tool('long_work'),
  tool('long_work', {}, { task: { ttl: 60_000 } }),
  request('tasks/get', { taskId: 'reference-task-1' }),
  request('tasks/list', {}),
  request('tasks/result', { taskId: 'reference-task-1' }),
  request('tasks/get', { taskId: 'reference-task-1' }),
  tool('long_work', {}, { task: {} }),
  request('tasks/cancel', { taskId: 'reference-task-2' }),
  request('tasks/result', { taskId: 'reference-task-2' }),
]

const LIFE = [
  scenario('a cancelled call', async place => {
    const from = place.client.received.length
    const id = place.client.send('tools/call', { name: place.name('wait'), arguments: {} })
    await place.client.until(({ method }) => method === 'notifications/message', from)
    place.client.notify('notifications/cancelled', { requestId: id, reason: 'changed my mind' })
    await call(place, 'cancelled')
  }),
  tool('count'),
  tool('count'),
]

/** Exchanges whose messages must be the same, in the same order, however the server is reached. */
export const SCENARIOS: readonly Scenario[] = [...CONTENT, ...PROGRESS, ...QUESTIONS, ...RESOURCES, ...PROMPTS, ...TASKS, ...LIFE]

/** Runs a scenario, and gives what came meanwhile in a form that can be compared: ids by their order, names as the server has them. */
export async function transcript(place: Reference, { run }: Scenario): Promise<string[]> {
  const { client } = place
  const from = client.received.length
  const firstId = client.lastId
  await run(place)
  // What the client itself was asked has ids of whoever asked it.
  const asked: unknown[] = []
  const number = (id: unknown): string => {
    if (!asked.includes(id)) asked.push(id)
    return `question ${asked.indexOf(id)}`
  }
  return client.received.slice(from).flatMap(message => {
    if (/list_changed$/.test(message.method ?? '')) return []
    return [JSON.stringify(comparable(message, { firstId, number }))]
  })
}

function comparable(message: Message, { firstId, number }: { firstId: number; number(id: unknown): string }): Message {
  const { id, method, params } = message
  if (method === undefined) return { ...message, id: `answer ${Number(id) - firstId}` }
  const meta = params?._meta as Params | undefined
  if (id !== undefined && meta?.progressToken !== undefined) {
    return { ...message, id: number(id), params: { ...params, _meta: { ...meta, progressToken: 'token' } } }
  }
  if (id !== undefined) return { ...message, id: number(id) }
  if (method === 'notifications/cancelled') return { ...message, params: { ...params, requestId: number(params?.requestId) } }
  return message
}

const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

/** All lists of the server in full, as it has them: what is somebody else's is left out. */
export async function wholeLists(place: Reference, names: readonly string[]): Promise<Record<string, Params[]>> {
  const known = new Map(names.map(own => [place.name(own), own]))
  const isDirect = names.length === 0
  const all: Record<string, Params[]> = {}
  for (const [method, key] of Object.entries(LISTS)) {
    const items: Params[] = []
    let cursor: unknown
    do {
      const { result = {} } = await place.client.request(method, cursor === undefined ? {} : { cursor })
      items.push(...(result[key] as Params[]))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    all[key] = items.flatMap(item => {
      if (item.uri !== undefined || item.uriTemplate !== undefined)
        return String(item.uri ?? item.uriTemplate).startsWith('test:') ? [item] : []
      const own = known.get(String(item.name))
      if (isDirect) return [item]
      return own === undefined ? [] : [{ ...item, name: own }]
    })
  }
  return all
}
