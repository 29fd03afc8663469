import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listable } from '../../../src/workspace/nested-servers/list-items.ts'
import type { KeptLists } from '../../../src/workspace/nested-servers/port.ts'

/** What a client that checks takes; each with a sound item that has every field. */
const LISTS = {
  tools: {
    schema: ListToolsResultSchema,
    sound: {
      ...{ name: 'a', title: 't', description: 'd', _meta: { kept: null }, unknown: [null] },
      icons: [{ src: 's', mimeType: 'image/png', sizes: ['any'], theme: 'dark' }],
      inputSchema: { type: 'object', properties: { a: {} }, required: ['a'], $defs: { any: true } },
      outputSchema: { type: 'object', oneOf: [] },
      annotations: { title: 't', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true, mine: 1 },
      execution: { taskSupport: 'optional' },
    },
  },
  prompts: {
    schema: ListPromptsResultSchema,
    sound: { name: 'a', title: 't', description: 'd', arguments: [{ name: 'b', title: 't', description: 'd', required: true }] },
  },
  resources: {
    schema: ListResourcesResultSchema,
    sound: {
      ...{ name: 'a', uri: 'x://1', title: 't', description: 'd', mimeType: 'text/plain', size: 1.5, _meta: {} },
      annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05.5+01:00' },
    },
  },
  resourceTemplates: {
    schema: ListResourceTemplatesResultSchema,
    sound: { name: 'a', uriTemplate: 'x://{b}', title: 't', description: 'd', mimeType: 'text/plain', annotations: {} },
  },
}
const KEYS = Object.keys(LISTS) as (keyof KeptLists)[]
const ODD = [null, true, 7, 'text', [], [null], ['text'], {}, { type: 'array' }, { type: 'object', properties: { a: true } }]

describe.each(KEYS)('the items of a list: %s', key => {
  const { schema, sound } = LISTS[key]

  it('that the protocol allows are the same objects', () => {
    const told: string[] = []
    const items = [sound, { ...sound }]
    const listed = listable(key, items, fault => told.push(fault))
    expect(schema.safeParse({ [key]: items }).success).toBe(true)
    for (const [index, item] of items.entries()) expect(listed[index]).toBe(item)
    expect(told).toEqual([])
  })

  it('never make a client refuse the list, whatever is odd about them', () => {
    const fields = Object.keys(sound).flatMap(field => [field, `${field}.`])
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(...ODD), fc.nat(20), (field, odd, inner) => {
        const item = structuredClone(sound) as Record<string, unknown>
        if (field.endsWith('.')) {
          const of = item[field.slice(0, -1)]
          const target = (Array.isArray(of) ? of[0] : of) as Record<string, unknown>
          const names = typeof target === 'object' && target !== null ? Object.keys(target) : []
          if (names.length > 0) target[names[inner % names.length] as string] = odd
        } else item[field] = odd
        const listed = listable(key, [sound, item, odd], () => {})
        expect(schema.safeParse({ [key]: listed }).error?.issues ?? []).toEqual([])
        expect(listed).toContain(sound)
      }),
      { numRuns: 500 },
    )
  })
})

it('an odd item is told of by name, with what is odd', () => {
  const told: string[] = []
  const sound = { name: 'fine', inputSchema: { type: 'object' } }
  const items = [{ name: 'no-schema' }, { ...sound, name: 'odd-title', title: null }, sound, 3]
  expect(listable('tools', items, fault => told.push(fault))).toEqual([{ ...sound, name: 'odd-title' }, sound])
  expect(told).toEqual([
    '"no-schema" is left out: the protocol does not allow its inputSchema',
    '"odd-title" is shown without its title, which the protocol does not allow',
  ])
})
