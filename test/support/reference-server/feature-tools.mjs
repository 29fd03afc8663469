import { once } from 'node:events'
import { audio, BLOB, embedded, image, text } from './media.mjs'
import { RpcError } from './peer.mjs'
import { DEEP_SCHEMA, NOTHING } from './schemas.mjs'

const ALL_HINTS = {
  title: 'Hints',
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
  odd: 'kept',
}

function everyContent() {
  return {
    content: [
      text('text', { annotations: { audience: ['user', 'assistant'], priority: 0.9 }, _meta: { 'example.com/a': 1 } }),
      image,
      audio,
      embedded,
      { type: 'resource', resource: { uri: 'test://blob', blob: BLOB, _meta: { inner: true } } },
      { type: 'resource_link', uri: 'test://numbered/3', name: 'three', title: 'Three', mimeType: 'text/plain', size: 17 },
      { type: 'example.com/unknown', payload: { kept: [1, null, { x: '' }] } },
    ],
    _meta: { 'example.com/result': { kept: true } },
    unknownField: 'kept',
  }
}

async function burst(_, call) {
  for (let step = 1; step <= 50; step += 1) call.progress({ progress: step, total: 50, odd: { kept: step } })
  return { content: [text('after fifty steps')] }
}

async function wait(_, { signal, notify }, { state }) {
  signal.addEventListener('abort', () => state.cancelled.push(String(signal.reason)))
  notify('notifications/message', { level: 'info', logger: 'reference', data: 'waiting' })
  await once(signal, 'abort')
  return { content: [] }
}

async function sample({ tools = false }, { request, progress }) {
  progress({ progress: 1 })
  const result = await request('sampling/createMessage', {
    messages: [{ role: 'user', content: [text('What is the weather?'), image] }],
    modelPreferences: { hints: [{ name: 'any' }], costPriority: 0.1 },
    systemPrompt: 'Be brief.',
    temperature: 0,
    maxTokens: 10,
    metadata: { kept: { deep: [] } },
    ...(tools && { tools: [{ name: 'weather', inputSchema: { type: 'object' } }], toolChoice: { mode: 'required' } }),
  })
  progress({ progress: 2 })
  return { content: [text(JSON.stringify(result))] }
}

async function elicitUrl(_, { request, notify }) {
  const elicitationId = 'elicitation-1'
  const params = { mode: 'url', message: 'Please sign in', url: 'https://example.com/sign-in?x=1', elicitationId }
  const result = await request('elicitation/create', params)
  notify('notifications/elicitation/complete', { elicitationId })
  return { content: [text(`sign-in: ${result.action}`)] }
}

/** Asks for the roots, and takes a second question back. */
async function takeBack(_, { request }) {
  const asking = new AbortController()
  const question = request('elicitation/create', { message: 'Never mind', requestedSchema: NOTHING }, { signal: asking.signal })
  const roots = await request('roots/list', undefined, { id: 7 })
  asking.abort()
  const outcome = await question.catch(error => error.message)
  return { content: [text(`${JSON.stringify(roots)} ${outcome}`)] }
}

async function refused({ method, params }, { request }) {
  const error = await request(method, params).then(
    () => undefined,
    ({ code, message, data }) => ({ code, message, data }),
  )
  return { content: [text(error === undefined ? 'answered' : `refused ${error.code}`)], structuredContent: { ...error } }
}

async function watched(_, call) {
  const handled = []
  const progressToken = 'client-progress'
  const result = await call.request('sampling/createMessage', {
    messages: [{ role: 'user', content: text('Take your time') }],
    maxTokens: 1,
    _meta: { progressToken, other: 'kept' },
  })
  handled.push(result.model)
  return { content: [text(handled.join())] }
}

function toggle(_, { notify }, { state }) {
  state.extra = !state.extra
  for (const kind of ['tools', 'prompts', 'resources']) notify(`notifications/${kind}/list_changed`)
  return { content: [text(`extra: ${state.extra}`)] }
}

/** Tools for what the conformance suite does not look at. */
export const FEATURE_TOOLS = {
  every_content: {
    title: 'Every content',
    description: 'All content types',
    inputSchema: NOTHING,
    annotations: ALL_HINTS,
    run: everyContent,
  },
  structured: {
    description: 'Structured content with a schema',
    inputSchema: DEEP_SCHEMA,
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'], $defs: { unused: {} } },
    icons: [{ src: 'https://example.com/t.png', mimeType: 'image/png', sizes: ['16x16'], theme: 'light' }],
    _meta: { 'example.com/ui': { resourceUri: 'ui://x' } },
    run: ({ a = 1, b = 2 }) => ({
      content: [text(`{"sum":${a + b}}`)],
      structuredContent: { sum: a + b, more: { nested: [null] } },
    }),
  },
  echo: {
    description: 'Gives back what it was sent',
    inputSchema: { type: 'object', additionalProperties: true },
    run: (given, _, { params }) => {
      const { progressToken: _token, ...meta } = params._meta ?? {}
      return { content: [text(JSON.stringify(given))], structuredContent: { given, meta } }
    },
  },
  rpc_error: {
    description: 'Answers with a JSON-RPC error',
    inputSchema: NOTHING,
    run: () => {
      throw new RpcError(-32042, 'Needs a sign-in', {
        elicitations: [{ mode: 'url', url: 'https://example.com', elicitationId: 'e' }],
      })
    },
  },
  burst: { description: 'Progress right before the answer', inputSchema: NOTHING, run: burst },
  wait: { description: 'Waits to be cancelled', inputSchema: NOTHING, run: wait },
  cancelled: {
    description: 'Tells which calls were cancelled',
    inputSchema: NOTHING,
    run: (_, __, { state }) => ({ content: [text(JSON.stringify(state.cancelled))] }),
  },
  count: {
    description: 'Counts its calls',
    inputSchema: NOTHING,
    run: (_, __, { state }) => {
      state.count += 1
      return { content: [text(String(state.count))] }
    },
  },
  level: {
    description: 'Tells the log level',
    inputSchema: NOTHING,
    run: (_, __, { state }) => ({ content: [text(state.level)] }),
  },
  sample: {
    description: 'Asks for a rich sample',
    inputSchema: { type: 'object', properties: { tools: { type: 'boolean' } } },
    run: sample,
  },
  sample_slowly: { description: 'Asks for a sample with progress', inputSchema: NOTHING, run: watched },
  elicit_url: { description: 'Sends the user to a page', inputSchema: NOTHING, run: elicitUrl },
  take_back: { description: 'Asks, then cancels the question', inputSchema: NOTHING, run: takeBack },
  ask: {
    description: 'Sends any request to the client and tells how it was refused',
    inputSchema: { type: 'object', properties: { method: { type: 'string' }, params: { type: 'object' } } },
    run: refused,
  },
  touch: {
    description: 'Changes the watched resource',
    inputSchema: NOTHING,
    run: (_, __, { resources }) => {
      resources.touch()
      return { content: [text('touched')] }
    },
  },
  toggle: { description: 'Adds or removes a tool, a prompt and a resource', inputSchema: NOTHING, run: toggle },
  long_work: {
    description: 'Runs as a task where asked to',
    inputSchema: NOTHING,
    execution: { taskSupport: 'optional' },
    run: () => ({ content: [text('done at once')] }),
  },
  'dotted.name/odd': { description: 'A name that clients refuse', inputSchema: NOTHING, run: () => ({ content: [text('odd')] }) },
  a_tool_whose_name_is_much_longer_than_any_client_would_take: {
    description: 'A long name',
    inputSchema: NOTHING,
    run: () => ({ content: [text('long')] }),
  },
}
