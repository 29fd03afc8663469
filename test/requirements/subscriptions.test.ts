import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import type { TestClient } from '../support/client.ts'
import { killOne, until } from '../support/processes.ts'
import { type Case, verifies } from '../support/verifies.ts'

/** The URI of the current workspace. */
async function currentUri(client: TestClient): Promise<string> {
  await client.text('Bash', { command: 'true' })
  const { resources } = await client.client.listResources()
  const found = resources.find(({ uri, title }) => /^workspace:\/\/[^/]+$/.test(uri) && title?.includes('(current)'))
  if (found === undefined) throw new Error(`No current workspace among ${resources.map(({ uri }) => uri).join(', ')}`)
  return found.uri
}

/** What a client hears of resources. */
function ears({ client }: TestClient) {
  const updated: string[] = []
  const logged: string[] = []
  let lists = 0
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    lists += 1
  })
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(String(params.data)))
  return {
    updated,
    logged,
    count: (uri: string) => updated.filter(each => each === uri).length,
    /** Resolves with the next update of `uri` from now on. */
    update(uri: string): Promise<void> {
      const before = updated.filter(each => each === uri).length
      return until(() => updated.filter(each => each === uri).length > before, `an update of ${uri}`)
    },
    listChanged(): Promise<void> {
      const before = lists
      return until(() => lists > before, 'notifications/resources/list_changed')
    },
  }
}

async function subscribed({ client, dir }: Case, name: string) {
  mkdirSync(join(dir, 'watched'), { recursive: true })
  writeFileSync(join(dir, 'watched', name), 'one\n')
  const heard = ears(client)
  const uri = `${await currentUri(client)}/watched/${name}`
  await client.client.subscribeResource({ uri })
  return { heard, uri, path: join(dir, 'watched', name) }
}

verifies('resources.subscribe', async test => {
  const { heard, uri, path } = await subscribed(test, 'a.txt')
  for (const change of [
    () => appendFileSync(path, 'two\n'),
    () => {
      writeFileSync(`${path}.part`, 'three\n')
      renameSync(`${path}.part`, path)
    },
    () => rmSync(path),
    () => writeFileSync(path, 'four\n'),
  ]) {
    const update = heard.update(uri)
    change()
    await update
  }
  const byAgent = heard.update(uri)
  await test.client.text('Bash', { command: `echo five >> watched/a.txt` })
  await byAgent
  const { contents } = await test.client.client.readResource({ uri })
  expect(contents[0]).toMatchObject({ text: 'four\nfive\n' })
})

verifies('resources.unsubscribe', async test => {
  const { heard, uri, path } = await subscribed(test, 'b.txt')
  writeFileSync(join(test.dir, 'watched/other.txt'), 'one\n')
  const other = uri.replace('b.txt', 'other.txt')
  await test.client.client.subscribeResource({ uri: other })
  await test.client.client.subscribeResource({ uri })
  await test.client.client.unsubscribeResource({ uri })
  const before = heard.count(uri)
  appendFileSync(path, 'two\n')
  const update = heard.update(other)
  appendFileSync(join(test.dir, 'watched/other.txt'), 'two\n')
  await update
  expect(heard.count(uri)).toBe(before)
  await test.client.client.unsubscribeResource({ uri: 'workspace:///never-subscribed' })
})

verifies('resources.subscribe.directory', async test => {
  mkdirSync(join(test.dir, 'listed'), { recursive: true })
  const heard = ears(test.client)
  const uri = `${await currentUri(test.client)}/listed`
  await test.client.client.subscribeResource({ uri })
  const update = heard.update(uri)
  writeFileSync(join(test.dir, 'listed/new.txt'), '')
  await update
})

verifies('resources.subscribe.status', async test => {
  const heard = ears(test.client)
  const uri = await currentUri(test.client)
  await test.client.client.subscribeResource({ uri })
  const began = heard.update(uri)
  const { structuredContent, _meta } = await test.client.call('Bash', { command: 'sleep 60', run_in_background: true })
  await began
  const ended = heard.update(uri)
  const { job } = (structuredContent ?? _meta?.['atelier/result'] ?? {}) as { job: string }
  await test.client.text('KillBash', { id: job })
  await ended
  await test.client.text('workspace_create', { name: 'status-told' })
  const made = await currentUri(test.client)
  await test.client.client.subscribeResource({ uri: made })
  const state = async () => {
    const { contents } = await test.client.client.readResource({ uri: made })
    return JSON.parse(String((contents[0] as { text?: string }).text)).summary.state as string
  }
  const told = async (tool: string, args: Record<string, unknown>, seen: RegExp) => {
    const before = heard.count(made)
    await test.client.text(tool, args)
    const now = () => state().catch(error => `error ${error.code}`)
    await until(async () => heard.count(made) > before && seen.test(await now()), `${tool} is told`)
  }
  await told('workspace_close', {}, /suspended|gone/)
  await told('Bash', { command: 'true' }, /running/)
  await told('workspace_delete', { confirm: true }, /error -32002/)
})

verifies('resources.subscribe.refused', async test => {
  const uri = await currentUri(test.client)
  const subscribe = (wanted: string) => test.client.client.subscribeResource({ uri: wanted })
  await expect(subscribe(`${uri}/missing.txt`)).rejects.toMatchObject({ code: -32002 })
  await expect(subscribe('workspace://nobody-has-this/a.txt')).rejects.toMatchObject({ code: -32002 })
  await expect(subscribe(`${uri}/../outside.txt`)).rejects.toThrow(/leaves the workspace/)
  await expect(subscribe('other://thing')).rejects.toThrow(/other:\/\/thing/)
})

verifies('resources.subscribe.life', async test => {
  const { text, client } = test.client
  const made = /workspace:\/\/[^/\s"]+/
  await text('workspace_create', { name: 'short-lived' })
  await text('Write', { file_path: 'a.txt', content: 'one\n' })
  const heard = ears(test.client)
  const uri = `${await currentUri(test.client)}/a.txt`
  expect(uri).toMatch(made)
  await client.subscribeResource({ uri })
  await text('workspace_close')
  await until(() => heard.logged.some(line => line.includes(uri) && line.includes('closed')), 'the end is told')
  await client.subscribeResource({ uri })
  const update = heard.update(uri)
  await text('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }).catch(() => undefined)
  await text('Bash', { command: 'echo more >> a.txt' })
  await update
  await text('workspace_delete', { confirm: true })
})

verifies('resources.subscribe.restart', async test => {
  const { heard, uri, path } = await subscribed(test, 'c.txt')
  const gateway = test.processes().find(({ command }) => /gateway[\w-]*\.mjs.* serve/.test(command))
  expect(gateway).toBeDefined()
  killOne(gateway?.pid)
  await until(
    () =>
      test.client.call('Bash', { command: 'true' }).then(
        result => !result.isError,
        () => false,
      ),
    'the gateway is there again',
    30_000,
  )
  await until(() => heard.count(uri) > 0, 'the watch begins anew')
  const update = heard.update(uri)
  appendFileSync(path, 'two\n')
  await update
})

verifies('resources.list-changed', async test => {
  const heard = ears(test.client)
  await currentUri(test.client)
  let change = heard.listChanged()
  writeFileSync(join(test.dir, 'at-the-top.txt'), '')
  await change
  const { resources } = await test.client.client.listResources()
  expect(resources.map(({ uri }) => uri).some(uri => uri.endsWith('/at-the-top.txt'))).toBe(true)
  await test.client.client.subscribeResource({ uri: 'workspace://' })
  change = heard.listChanged()
  const all = heard.update('workspace://')
  await test.client.text('workspace_create', { name: 'another' })
  await Promise.all([change, all])
  await test.client.text('workspace_delete', { confirm: true })
})

verifies('resources.completion', async test => {
  mkdirSync(join(test.dir, 'com/deep'), { recursive: true })
  writeFileSync(join(test.dir, 'com/one.txt'), '')
  writeFileSync(join(test.dir, 'com/two.txt'), '')
  const id = (await currentUri(test.client)).slice('workspace://'.length)
  const ref = { type: 'ref/resource' as const, uri: 'workspace://{workspace}/{+path}' }
  const complete = async (name: string, value: string) =>
    (await test.client.client.complete({ ref, argument: { name, value }, context: { arguments: { workspace: id } } })).completion
      .values
  expect(await complete('workspace', id.slice(0, 4))).toContain(id)
  expect(await complete('path', 'com/')).toEqual(['com/deep/', 'com/one.txt', 'com/two.txt'])
  expect(await complete('path', 'com/t')).toEqual(['com/two.txt'])
  expect(await complete('path', '../')).toEqual([])
  const elsewhere = { ref, argument: { name: 'path', value: 'com/' }, context: { arguments: { workspace: 'no-such' } } }
  expect((await test.client.client.complete(elsewhere)).completion.values).toEqual([])
  const prompt = { type: 'ref/prompt' as const, name: 'workspace-instructions' }
  const asked = await test.client.client.complete({ ref: prompt, argument: { name: 'workspace', value: 'def' } })
  expect(asked.completion.values).toEqual(['default'])
})
