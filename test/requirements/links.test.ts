import { expect } from 'vitest'
import { textOf } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { verifies } from '../support/verifies.ts'

verifies('protocol.log-links', async ({ client }) => {
  const result = await client.call('Bash', { command: 'for i in $(seq 1 20000); do echo line $i; done' })
  const link = result.content.find(part => part.type === 'resource_link')
  expect(link).toMatchObject({ uri: expect.stringMatching(/^workspace:\/\/\//), mimeType: 'text/plain' })
  const { contents } = await client.client.readResource({
    uri: `${link?.type === 'resource_link' ? link.uri : ''}?lines=9999-9999`,
  })
  expect(contents[0]).toMatchObject({ text: 'line 9999\n' })
  const short = await client.call('Bash', { command: 'echo short' })
  expect(short.content).toHaveLength(1)
  const job = await client.call('Bash', { command: 'echo in the background', run_in_background: true })
  const { job: id } = (job._meta?.['atelier/result'] ?? {}) as { job: string }
  let ended = await client.call('BashOutput', { id })
  await until(async () => {
    if (textOf(ended).includes('exit code')) return true
    ended = await client.call('BashOutput', { id })
    return false
  }, 'the job ends')
  expect(ended.content.find(part => part.type === 'resource_link')).toMatchObject({ uri: expect.stringContaining(id) })
  const named = await client.call('Bash', { command: 'seq 1 20000', workspace: 'default' })
  const there = named.content.find(part => part.type === 'resource_link')
  expect(there).toMatchObject({ uri: expect.stringMatching(/^workspace:\/\/ws-\w+\/.*\?root$/) })
})
