import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The build that is measured; `ATELIER_BENCH_DIST` names another one. */
export const DIST = process.env.ATELIER_BENCH_DIST ?? fileURLToPath(new URL('../dist', import.meta.url))
const LOADER = join(DIST, 'loader.cjs')
const COLLECTOR = fileURLToPath(new URL('gc-on-signal.cjs', import.meta.url))
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }

/** A server over stdio, spoken to without a client library: what is measured is the server. */
export function stdioClient(command, args, options) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], ...options })
  const waiting = new Map()
  let next = 1
  createInterface({ input: child.stdout }).on('line', line => {
    if (!line.startsWith('{')) return
    const message = JSON.parse(line)
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  })
  child.once('exit', code => {
    for (const settle of waiting.values()) settle({ error: { message: `the server ended with ${code}` } })
  })
  const send = message => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const id = next++
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)))
      send({ id, method, params })
    })
  return {
    pid: child.pid,
    ask,
    call: (name, args = {}) => ask('tools/call', { name, arguments: args }),
    async initialize() {
      const result = await ask('initialize', INITIALIZE)
      send({ method: 'notifications/initialized' })
      return result
    },
    async end() {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      if (child.exitCode === null && child.signalCode === null) await gone
      clearTimeout(timer)
    },
  }
}

/** A tool's result; one that is an error throws. */
export async function succeeds(call) {
  const result = await call
  if (result.isError) throw new Error(JSON.stringify(result.content))
  return result
}

/** Atelier over stdio in a place. */
export const atelier = (place, args = []) =>
  stdioClient(process.execPath, [LOADER, '--directory', place.project, ...args], { cwd: place.project, env: place.env })

/** Atelier over HTTP in a place, with `session()` for as many clients as are wanted. */
export async function atelierHttp(place) {
  const args = ['--expose-gc', '--require', COLLECTOR, LOADER, 'http', '--port', '0', '--directory', place.project]
  const child = spawn(process.execPath, args, { cwd: place.project, env: place.env, stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.setEncoding('utf8')
  const { url, token } = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`atelier http ended:\n${text}`)))
    child.stderr.on('data', chunk => {
      text += chunk
      const found = { url: /https?:\/\/[^\s"'`]+\/mcp\b/.exec(text)?.[0], token: /Bearer ([\w.~+/=-]{16,})/.exec(text)?.[1] }
      if (found.url && found.token) resolve(found)
    })
  })
  return {
    pid: child.pid,
    session: () => httpSession(new URL(url), token),
    /** Lets garbage be collected, twice: what a first collection sets free may free more. */
    async collect() {
      for (const _ of [1, 2]) {
        await new Promise(resolve => setTimeout(resolve, 1_500))
        child.kill('SIGUSR2')
      }
      await new Promise(resolve => setTimeout(resolve, 1_500))
    },
    end: () => child.kill('SIGTERM'),
  }
}

async function httpSession(url, token) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const post = message =>
    new Promise((resolve, reject) => {
      const outgoing = request(url, { method: 'POST', agent, headers }, response => {
        let text = ''
        response.setEncoding('utf8').on('data', chunk => (text += chunk))
        response.on('end', () => resolve({ text, session: response.headers['mcp-session-id'], status: response.statusCode }))
      })
      outgoing.on('error', reject)
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
    })
  let next = 1
  const first = await post({ id: 0, method: 'initialize', params: INITIALIZE })
  if (first.status !== 200) throw new Error(`initialize answered ${first.status}: ${first.text}`)
  headers['mcp-session-id'] = first.session
  await post({ method: 'notifications/initialized' })
  return {
    call: (name, args = {}) => post({ id: next++, method: 'tools/call', params: { name, arguments: args } }),
    /** Opens the stream for the server's own messages and leaves it open. */
    listen: () =>
      new Promise((resolve, reject) => {
        const stream = request(url, { method: 'GET', headers, agent: false }, response => {
          response.resume()
          resolve({ end: () => stream.destroy() })
        })
        stream.on('error', reject)
        stream.end()
      }),
    end: () => agent.destroy(),
  }
}
