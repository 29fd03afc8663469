import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { textOf } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { verifies } from '../support/verifies.ts'

const linkOf = ({ content }: CallToolResult) => {
  const link = content.find(part => part.type === 'resource_link')
  return link?.type === 'resource_link' ? link : undefined
}

verifies('protocol.log-links', async ({ client }) => {
  const result = await client.call('Bash', { command: 'for i in $(seq 1 20000); do echo line $i; done' })
  const link = linkOf(result)
  const size = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join('').length
  expect(link).toMatchObject({ uri: expect.stringMatching(/^workspace:\/\/\//), mimeType: 'text/plain', size })
  const { contents } = await client.client.readResource({ uri: `${link?.uri}?lines=9999-9999` })
  expect(contents[0]).toMatchObject({ text: 'line 9999\n' })
  const short = await client.call('Bash', { command: 'echo short' })
  expect(short.content).toHaveLength(1)
  const named = linkOf(await client.call('Bash', { command: 'seq 1 20000', workspace: 'default' }))
  expect(named).toMatchObject({ uri: expect.stringMatching(/^workspace:\/\/ws-\w+\/.*\?root$/) })
})

verifies('protocol.log-links.job', async ({ client }) => {
  const begun = await client.call('Bash', { command: 'read line; echo "got $line"', input: 'pipe' })
  const { job: id } = (begun._meta?.['atelier/result'] ?? {}) as { job: string }
  const uri = linkOf(begun)?.uri ?? ''
  expect(uri).toContain(id)
  expect(linkOf(begun)?.size).toBeUndefined()
  const read = async () => (await client.client.readResource({ uri })).contents
  // It is there before anything is written.
  expect(await read()).toMatchObject([{ text: '' }])
  expect(linkOf(await client.call('BashOutput', { id }))).toBeUndefined()
  await client.call('BashInput', { id, text: 'word\n' })
  let ended = await client.call('BashOutput', { id })
  await until(async () => {
    if (textOf(ended).includes('exit code')) return true
    ended = await client.call('BashOutput', { id })
    return false
  }, 'the job ends')
  expect(linkOf(ended)).toMatchObject({ uri, size: 'got word\n'.length })
  expect(await read()).toMatchObject([{ text: 'got word\n' }])
})
