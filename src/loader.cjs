#!/usr/bin/env node
'use strict'
// The program's entry. A stdio client gets `initialize` and its first list at once, from what the build wrote into this file;
// everything else waits, in order, for the rest of the program. Node's own modules only: this must start in no time.
const { join } = require('node:path')
const { defaultDataDir } = require('./config/data-directory.ts')
const { readStartList, startListPath } = require('./mcp/nested/start-list.ts')
const { PAGE_SIZE } = require('./mcp/relay.ts')
const { initializeResult } = require('./mcp/static.ts')

const LOAD_AFTER_MS = 100
const FLUSH_AFTER_MS = 1_000
const NEWLINE = 0x0a
const args = process.argv.slice(2)

function isForStdio() {
  if (args.some(arg => ['--help', '-h', '--version', '-V', 'http', 'help', 'config', 'token'].includes(arg))) return false
  return args[0] === undefined || args[0] === 'stdio' || args[0].startsWith('-')
}

/** Node's default lies in the shared temporary directory, where another user could put something in its place. */
function cacheFolder() {
  const { homedir } = require('node:os')
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'atelier', 'compiled')
}

function load(handover) {
  const nodeModule = require('node:module')
  nodeModule.enableCompileCache?.(cacheFolder())
  const { main } = require('./server.cjs')
  Promise.resolve(main(args, { handover })).catch(error => {
    process.stderr.write(`atelier: ${error?.stack ?? error}\n`)
    process.exit(1)
  })
  // Most clients end a server by a signal, after which Node writes no cache.
  setTimeout(() => nodeModule.flushCompileCache?.(), FLUSH_AFTER_MS).unref()
}

function serveQuickly() {
  const { stdin, stdout } = process
  const { write } = stdout
  // From now on stdout is the protocol's: whatever else writes to it lands on stderr.
  stdout.write = (...given) => process.stderr.write(...given)
  const listPath = startListPath(join(defaultDataDir(process.env), 'lists'), { args, cwd: process.cwd(), env: process.env })
  const kept = []
  let partial = []
  let initialize
  let listed = false
  let nested
  let ended = false
  // Once a request waits, all that follows it waits too: answers keep the order of their requests.
  let behind = false
  const timer = setTimeout(startLoading, LOAD_AFTER_MS)
  let loading = false

  function startLoading() {
    clearTimeout(timer)
    if (!loading) setImmediate(load, release)
    loading = true
  }

  function answer(id, result) {
    write.call(stdout, `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  }

  /** Our own tools, and those that nested servers had the last time. A list of more than a page is left to the rest of the program. */
  function listTools(id) {
    nested ??= readStartList(listPath)
    if (__TOOLS__.length + nested.length > PAGE_SIZE) return false
    listed = true
    answer(id, { tools: nested.length === 0 ? __TOOLS__ : [...__TOOLS__, ...nested] })
    return true
  }

  /** Whether the line was answered here. */
  function take(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {}
    const { jsonrpc, id, method, params } = message ?? {}
    const isRequest = jsonrpc === '2.0' && (typeof id === 'string' || Number.isSafeInteger(id))
    if (isRequest && method === 'initialize' && initialize === undefined) {
      initialize = message
      answer(id, initializeResult(params))
    } else if (isRequest && method === 'ping') answer(id, {})
    else if (isRequest && method === 'tools/list' && initialize !== undefined && !params?.cursor && listTools(id)) startLoading()
    else {
      behind = !(typeof method === 'string' && id === undefined)
      return false
    }
    return true
  }

  function onData(chunk) {
    let start = 0
    while (!behind) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end === -1) break
      const line = Buffer.concat([...partial, chunk.subarray(start, end + 1)])
      partial = []
      start = end + 1
      if (!take(line)) kept.push(line)
    }
    if (start < chunk.length) partial.push(chunk.subarray(start))
    if (behind) startLoading()
  }

  function onEnd() {
    ended = true
    startLoading()
  }

  /** Ends the quick part and gives what it did, with the input that it did not deal with. */
  function release() {
    stdout.write = write
    stdin.off('data', onData).off('end', onEnd).off('error', onEnd)
    return { initialize, listed, nested: { path: listPath, shown: nested }, ended, chunks: [...kept, ...partial] }
  }

  stdin.on('data', onData).on('end', onEnd).on('error', onEnd)
}

if (isForStdio()) serveQuickly()
else load()
