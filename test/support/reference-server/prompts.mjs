import { embedded, image, text } from './media.mjs'
import { RpcError } from './peer.mjs'

const said = (content, role = 'user') => ({ role, content })

const GET = {
  test_simple_prompt: () => ({ messages: [said(text('This is a simple prompt for testing.'))] }),
  test_prompt_with_arguments: ({ arg1, arg2 }) => ({
    messages: [said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }),
  test_prompt_with_embedded_resource: ({ resourceUri }) => ({
    messages: [
      said({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded for a test.' } }),
      said(text('Please process the embedded resource above.')),
    ],
  }),
  test_prompt_with_image: () => ({ messages: [said(image), said(text('Please analyze the image above.'))] }),
  conversation: () => ({
    description: 'Both roles, odd fields kept',
    messages: [said(text('Question', { annotations: { audience: ['assistant'], priority: 0.5 } })), said(embedded, 'assistant')],
    _meta: { 'example.com/kept': [1, { two: null }] },
  }),
}

/** The prompts; one of them comes and goes. */
export const PROMPTS = state => [
  { name: 'test_simple_prompt', title: 'Simple', description: 'A prompt without arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments',
    arguments: [
      { name: 'arg1', title: 'First', description: 'First argument', required: true },
      { name: 'arg2', description: 'Second argument', required: true },
    ],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [{ name: 'resourceUri', description: 'URI of the resource', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image' },
  {
    name: 'conversation',
    description: 'Both roles',
    icons: [{ src: 'data:image/png;base64,AA==', mimeType: 'image/png' }],
    _meta: { odd: true },
  },
  ...(state.extra ? [{ name: 'extra_prompt' }] : []),
]

/** `prompts/get`. */
export function getPrompt({ name, arguments: given = {} }) {
  const make = GET[name]
  if (make === undefined) throw new RpcError(-32602, `Unknown prompt: ${name}`)
  return make(given)
}

/** `completion/complete` of prompts and templates; the answer tells what was asked. */
export function completePrompts({ ref, argument, context }) {
  const name = ref.name ?? ref.uri
  const words = [`${argument.value}-one`, `${argument.value}-two`, `${ref.type}:${name}`]
  const known = context?.arguments === undefined ? [] : [JSON.stringify(context.arguments)]
  return { completion: { values: [...words, ...known], total: 200, hasMore: true } }
}
