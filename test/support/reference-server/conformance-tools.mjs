import { setTimeout as sleep } from 'node:timers/promises'
import { audio, embedded, image, text } from './media.mjs'
import { CHOICES_FORM, DEFAULTS_FORM, NOTHING, SCHEMA_2020_12, USER_FORM } from './schemas.mjs'

const STEP_MS = 50
const answer = (...content) => ({ content })
const plain = (description, run, inputSchema = NOTHING) => ({ description, inputSchema, run })
const needs = (name, description) => ({
  type: 'object',
  properties: { [name]: { type: 'string', description } },
  required: [name],
})

async function logging(_, { notify }) {
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    notify('notifications/message', { level: 'info', data })
    await sleep(STEP_MS)
  }
  return answer(text('Logged three times.'))
}

async function progress(_, call) {
  for (const done of [0, 50, 100]) {
    call.progress({ progress: done, total: 100, message: `Completed step ${done} of 100` })
    if (done < 100) await sleep(STEP_MS)
  }
  return answer(text('Progressed.'))
}

async function sampling({ prompt }, { request }) {
  const result = await request('sampling/createMessage', {
    messages: [{ role: 'user', content: text(prompt) }],
    maxTokens: 100,
  })
  return answer(text(`LLM response: ${result.content.text ?? JSON.stringify(result.content)}`))
}

const eliciting =
  requestedSchema =>
  async ({ message = 'Please fill in the form' }, { request }) => {
    const result = await request('elicitation/create', { message, requestedSchema })
    return answer(text(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`))
  }

/** The tools that the public conformance suite calls. */
export const CONFORMANCE_TOOLS = {
  test_simple_text: plain('Tests simple text content response', () =>
    answer(text('This is a simple text response for testing.')),
  ),
  test_image_content: plain('Tests image content response', () => answer(image)),
  test_audio_content: plain('Tests audio content response', () => answer(audio)),
  test_embedded_resource: plain('Tests embedded resource content response', () => answer(embedded)),
  test_multiple_content_types: plain('Tests multiple content types', () =>
    answer(text('Multiple content types test:'), image, {
      type: 'resource',
      resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
    }),
  ),
  test_tool_with_logging: plain('Tests log messages during a call', logging),
  test_error_handling: plain('Tests an error result', () => ({
    ...answer(text('This tool intentionally returns an error for testing')),
    isError: true,
  })),
  test_tool_with_progress: plain('Tests progress notifications', progress),
  test_sampling: plain('Tests sampling', sampling, needs('prompt', 'The prompt to send to the LLM')),
  test_elicitation: plain('Tests elicitation', eliciting(USER_FORM), needs('message', 'The message to show the user')),
  test_elicitation_sep1034_defaults: plain('Tests defaults in forms', eliciting(DEFAULTS_FORM)),
  test_elicitation_sep1330_enums: plain('Tests choices in forms', eliciting(CHOICES_FORM)),
  test_reconnection: plain('Tests a stream that is closed meanwhile', async () => {
    await sleep(STEP_MS)
    return answer(text('Reconnection test completed.'))
  }),
  json_schema_2020_12_tool: plain('Keeps its schema', () => answer(text('kept')), SCHEMA_2020_12),
}
