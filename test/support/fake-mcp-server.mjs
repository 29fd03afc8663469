// A small MCP server on stdio that misbehaves as it is told: `node fake-mcp-server.mjs '{"banner": true, …}'`.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** banner, stderrBytes, startDelayMs, silent, refuse, exitAfterCalls, crashAtStart, tools, pageSize, journal, child, restless, odd */
const how = JSON.parse(process.argv[2] ?? '{}')
let calls = 0
let asked = 0
let extraTools = 0
const waiting = new Map()

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const note = line => how.journal && appendFileSync(how.journal, `${line}\n`)
const text = value => ({ content: [{ type: 'text', text: String(value) }] })
const filled = (params, bytes) => (bytes === undefined ? params : { ...params, data: 'x'.repeat(bytes) })
const ask = (method, params) =>
  new Promise(resolve => {
    const id = `ask-${++asked}`
    waiting.set(id, resolve)
    send({ id, method, params })
  })

const names = ['echo', 'count', 'environment', 'hang', 'progress', 'big', 'exit', 'ask', 'tell', 'later', 'grow']
const tool = name => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: { value: { $ref: '#/$defs/any' } }, $defs: { any: {} } },
})

const tools = {
  echo: ({ value }) => text(value),
  count: () => text(++calls),
  environment: () => text(JSON.stringify({ env: process.env, cwd: process.cwd(), pid: process.pid })),
  hang: () => new Promise(() => {}),
  async progress({ steps = 3, everyMs = 20 }, params) {
    for (let step = 1; step <= steps; step++) {
      await new Promise(resolve => setTimeout(resolve, everyMs))
      const progressToken = params._meta?.progressToken
      send({ method: 'notifications/progress', params: { progressToken, progress: step, total: steps } })
    }
    return text('done')
  },
  big: ({ bytes }) => text('x'.repeat(bytes)),
  exit: ({ code = 1 }) => process.exit(code),
  ask: async ({ method = 'roots/list', params = {}, bytes }) => text(JSON.stringify(await ask(method, filled(params, bytes)))),
  async tell({ method, params, bytes }) {
    send({ method, params: filled(params, bytes) })
    return text('told')
  },
  /** Says something when nobody may be there any more. */
  later({ afterMs, method, params }) {
    setTimeout(() => send({ method, params }), afterMs)
    return text('later')
  },
  async grow() {
    extraTools += 1
    send({ method: 'notifications/tools/list_changed' })
    return text(extraTools)
  },
}

function list() {
  const own = how.tools ?? names
  return [...[...own, ...Array.from({ length: extraTools }, (_, index) => `extra_${index + 1}`)].map(tool), ...(how.odd ?? [])]
}

const methods = {
  async initialize({ protocolVersion }) {
    if (how.silent) return new Promise(() => {})
    if (how.refuse) throw Object.assign(new Error(how.refuse), { code: -32000 })
    await new Promise(resolve => setTimeout(resolve, how.startDelayMs ?? 0))
    return {
      protocolVersion,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: how.name ?? 'fake', version: '1' },
      instructions: 'Use it with care.',
    }
  },
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'tools/list'({ cursor }) {
    if (how.restless) send({ method: 'notifications/tools/list_changed' })
    const size = how.pageSize ?? 1000
    const start = Number(cursor ?? 0)
    const next = start + size < list().length ? { nextCursor: String(start + size) } : {}
    return { tools: list().slice(start, start + size), ...next }
  },
  async 'tools/call'(params) {
    const run = tools[params.name] ?? (() => text(`no ${params.name}`))
    return run(params.arguments ?? {}, params)
  },
}

async function receive(message) {
  if (message.method === undefined) {
    waiting.get(message.id)?.(message.result ?? message.error)
    waiting.delete(message.id)
    return
  }
  note(JSON.stringify({ method: message.method, params: message.params }))
  if (message.id === undefined) return
  try {
    const method = methods[message.method]
    if (method === undefined) throw Object.assign(new Error(`no ${message.method}`), { code: -32601 })
    send({ id: message.id, result: await method(message.params ?? {}) })
  } catch (error) {
    send({ id: message.id, error: { code: error.code ?? -32603, message: error.message } })
  }
  if (how.exitAfterCalls && message.method === 'tools/call') process.exit(0)
}

note(`start ${process.pid}`)
if (how.banner) process.stdout.write('Welcome to the fake server!\n\n{not json}\n[1, 2]\n')
if (how.stderrBytes) process.stderr.write(`${'e'.repeat(99)}\n`.repeat(Math.ceil(how.stderrBytes / 100)))
if (how.child) spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore', detached: true }).unref()
if (how.crashAtStart) {
  process.stderr.write('fatal: no configuration\n')
  process.exit(7)
}
createInterface({ input: process.stdin })
  .on('line', line => void receive(JSON.parse(line)))
  .on('close', () => how.stubborn || process.exit(0))
if (how.stubborn) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
