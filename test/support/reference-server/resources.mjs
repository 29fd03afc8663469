import { BLOB, PNG } from './media.mjs'
import { paged } from './paging.mjs'
import { RpcError } from './peer.mjs'

const FIXED = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://blob': { blob: BLOB },
}
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

const LISTED = [
  { uri: 'test://static-text', name: 'static-text', title: 'Text', description: 'Static text', mimeType: 'text/plain', size: 48 },
  {
    uri: 'test://static-binary',
    name: 'static-binary',
    mimeType: 'image/png',
    annotations: { audience: ['user'], priority: 1, lastModified: '2026-01-01T00:00:00Z' },
    icons: [{ src: 'https://example.com/i.svg', sizes: ['any'] }],
  },
  { uri: 'test://watched-resource', name: 'watched', _meta: { 'example.com/watched': true } },
  { uri: 'test://blob', name: 'blob' },
]
const NUMBERED = Array.from({ length: 6 }, (_, index) => ({ uri: `test://numbered/${index}`, name: `numbered ${index}` }))

const TEMPLATES = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', title: 'Template', mimeType: 'application/json' },
  { uriTemplate: 'test://deep/{+path}{?query}', name: 'deep', annotations: { audience: ['assistant'] } },
]

/** Resources with subscriptions; `touch` changes the watched one. */
export function createResources(peer, state) {
  const subscribed = new Set()
  let version = 1

  const contents = uri => {
    if (FIXED[uri] !== undefined) return { uri, ...FIXED[uri] }
    if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: `version ${version}` }
    const id = TEMPLATE.exec(uri)?.[1]
    if (id !== undefined) {
      return { uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }
    }
    if (/^test:\/\/(numbered|deep)\//.test(uri)) return { uri, text: uri, _meta: { odd: [] } }
    throw new RpcError(-32002, 'Resource not found', { uri })
  }

  return {
    touch() {
      version += 1
      if (subscribed.has('test://watched-resource')) {
        peer.notify('notifications/resources/updated', { uri: 'test://watched-resource', title: 'kept' })
      }
    },
    methods: {
      'resources/list': params =>
        paged('resources', [...LISTED, ...NUMBERED, ...(state.extra ? [{ uri: 'test://extra', name: 'extra' }] : [])], params),
      'resources/templates/list': params => paged('resourceTemplates', TEMPLATES, params),
      'resources/read': ({ uri }) => ({ contents: [contents(uri)], _meta: { read: uri } }),
      'resources/subscribe': ({ uri }) => {
        subscribed.add(uri)
        return {}
      },
      'resources/unsubscribe': ({ uri }) => {
        subscribed.delete(uri)
        return {}
      },
    },
  }
}
