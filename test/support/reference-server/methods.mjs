import { paged } from './paging.mjs'
import { RpcError } from './peer.mjs'
import { completePrompts, getPrompt, PROMPTS } from './prompts.mjs'
import { createResources } from './resources.mjs'
import { createTasks } from './tasks.mjs'
import { createTools } from './tools.mjs'

const ICONS = [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    experimental: { 'example.com/odd': { kept: true } },
  },
  serverInfo: { name: 'reference', title: 'Reference server', version: '1.0.0', websiteUrl: 'https://example.com', icons: ICONS },
  instructions: 'Use the tools of the reference server for tests only.',
}

/** Everything that the server answers, by method. What changes in a conversation lives in `state`. */
export function createMethods(peer) {
  const state = { level: 'warning', extra: false, count: 0, cancelled: [], rootsChanged: 0 }
  const resources = createResources(peer, state)
  const tasks = createTasks(peer)
  const tools = createTools({ peer, state, resources, tasks })
  return {
    initialize: ({ protocolVersion }) => ({ ...INITIALIZED, protocolVersion }),
    ping: () => ({}),
    'logging/setLevel': ({ level }) => {
      state.level = level
      return {}
    },
    'tools/list': params => paged('tools', tools.list(), params),
    'tools/call': tools.call,
    ...resources.methods,
    'prompts/list': params => paged('prompts', PROMPTS(state), params),
    'prompts/get': getPrompt,
    'completion/complete': completePrompts,
    ...tasks.methods,
    'notifications/roots/list_changed': () => {
      state.rootsChanged += 1
      peer.notify('notifications/message', { level: 'info', logger: 'reference', data: { rootsChanged: state.rootsChanged } })
    },
    'custom/echo': params => ({ custom: params, nested: [[null, true], { deep: { $ref: '#/x' } }] }),
    'custom/error': () => {
      throw new RpcError(-31999, 'custom failure', { kept: ['as', 'it', 'is'] })
    },
  }
}
