import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Case, verifies } from '../support/verifies.ts'

/** The id of the current workspace, from the list of resources. */
async function workspaceUri({ client }: Case): Promise<string> {
  await client.text('Bash', { command: 'true' })
  const { resources } = await client.client.listResources()
  const uri = resources.map(resource => resource.uri).find(one => /^workspace:\/\/[^/]+$/.test(one))
  if (uri === undefined) throw new Error(`No workspace among ${resources.map(resource => resource.uri).join(', ')}`)
  return uri
}

verifies('resources.list', async test => {
  const uri = await workspaceUri(test)
  const { contents } = await test.client.client.readResource({ uri })
  expect(JSON.stringify(contents)).toContain(test.workdir)
  const all = await test.client.client.readResource({ uri: 'workspace://' })
  expect(JSON.stringify(all.contents)).toContain(uri.slice('workspace://'.length))
})

verifies('resources.templates', async ({ client }) => {
  const { resourceTemplates } = await client.client.listResourceTemplates()
  expect(resourceTemplates.some(template => template.uriTemplate.startsWith('workspace://'))).toBe(true)
})

verifies('resources.text', async test => {
  mkdirSync(join(test.dir, 'sub'))
  writeFileSync(join(test.dir, 'sub/ä b.txt'), 'hello world\n')
  const uri = `${await workspaceUri(test)}/sub/${encodeURIComponent('ä b.txt')}`
  const { contents } = await test.client.client.readResource({ uri })
  expect(contents[0]).toMatchObject({ text: 'hello world\n' })
})

verifies('resources.blob', async test => {
  const bytes = Buffer.from([0, 1, 2, 255, 254])
  writeFileSync(join(test.dir, 'a.bin'), bytes)
  const { contents } = await test.client.client.readResource({ uri: `${await workspaceUri(test)}/a.bin` })
  expect(contents[0]).toMatchObject({ blob: bytes.toString('base64') })
})

verifies('resources.refused', async test => {
  const uri = await workspaceUri(test)
  writeFileSync(join(test.world.root, 'outside.txt'), 'secret')
  for (const path of ['../outside.txt', '%2e%2e/outside.txt', '..%2foutside.txt']) {
    const answer = await test.client.client.readResource({ uri: `${uri}/${path}` }).catch((error: Error) => error)
    expect(answer).toBeInstanceOf(Error)
  }
  await expect(test.client.client.readResource({ uri: `${uri}/missing.txt` })).rejects.toThrow(/missing\.txt/)
  await expect(test.client.client.readResource({ uri: 'workspace://nobody-has-this/a.txt' })).rejects.toThrow()
})
