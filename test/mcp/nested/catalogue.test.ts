import { describe, expect, it } from 'vitest'
import { Catalogue, type KeptServer } from '../../../src/mcp/nested/catalogue.ts'

const OWN = { tools: new Set(['Read']), prompts: new Set(['workspace-instructions']) }

const server = (name: string, fields: Partial<KeptServer> = {}): KeptServer => ({
  name,
  expose: 'prefixed',
  lists: {},
  ...fields,
})
const named = (...names: string[]) => names.map(name => ({ name, kept: { as: [name] } }))
const names = (items: readonly Record<string, unknown>[]) => items.map(({ name }) => name)

describe('a catalogue', () => {
  it('shows tools and prompts with a prefix, the rest of each as it was', () => {
    const { lists } = new Catalogue([server('a', { lists: { tools: named('t'), prompts: named('p') } })], OWN)
    expect(lists.tools).toEqual([{ name: 'mcp__a__t', kept: { as: ['t'] } }])
    expect(lists.prompts).toEqual([{ name: 'mcp__a__p', kept: { as: ['p'] } }])
  })

  it('reaches the same tool of two servers by two names', () => {
    const catalogue = new Catalogue(
      [server('a', { lists: { tools: named('t') } }), server('b', { lists: { tools: named('t') } })],
      OWN,
    )
    expect(names(catalogue.lists.tools)).toEqual(['mcp__a__t', 'mcp__b__t'])
    expect(catalogue.tool('mcp__b__t')).toEqual({ server: 'b', name: 't' })
  })

  it('shows bare names where they are free: our own and the first declared win', () => {
    const bare = { expose: 'bare', lists: { tools: named('Read', 't') } } as const
    const catalogue = new Catalogue([server('a', bare), server('b', bare)], OWN)
    expect(names(catalogue.lists.tools)).toEqual(['mcp__a__Read', 't', 'mcp__b__Read', 'mcp__b__t'])
    expect(catalogue.tool('t')).toEqual({ server: 'a', name: 't' })
    expect(catalogue.tool('Read')).toBeUndefined()
    expect(catalogue.shownTool('a', 't')).toBe('t')
    expect(catalogue.shownTool('b', 't')).toBe('mcp__b__t')
  })

  it('leaves a prompt its prefix where its bare name is taken by others', () => {
    const lists = { prompts: named('p', 'q') }
    const catalogue = new Catalogue([server('a', { expose: 'bare', lists }), server('b', { lists })], OWN)
    expect(names(catalogue.lists.prompts)).toEqual(['p', 'q', 'mcp__b__p', 'mcp__b__q'])
    const beside = catalogue.promptsBeside(new Set(['q']))
    expect(names(beside)).toEqual(['p', 'mcp__a__q', 'mcp__b__p', 'mcp__b__q'])
    expect(beside[1]).toEqual({ name: 'mcp__a__q', kept: { as: ['q'] } })
    expect(catalogue.prompt('mcp__a__q')).toEqual({ server: 'a', name: 'q' })
  })

  it('hides the lists of a hidden server, and still reaches it', () => {
    const lists = { tools: named('t'), resources: [{ uri: 'x://1' }] }
    const catalogue = new Catalogue([server('a', { expose: 'hidden', lists })], OWN)
    expect(catalogue.lists).toMatchObject({ tools: [], resources: [] })
    expect(catalogue.mayCall('a', 't')).toBe(true)
    expect(catalogue.resource('x://1')).toBe('a')
  })

  it('finds a tool that no list tells of by its prefix', () => {
    const catalogue = new Catalogue([server('a'), server('a-b')], OWN)
    expect(catalogue.tool('mcp__a-b__new')).toEqual({ server: 'a-b', name: 'new' })
    expect(catalogue.tool('mcp__c__new')).toBeUndefined()
  })

  it('refuses what the declaration turns off', () => {
    const catalogue = new Catalogue([server('a', { enableTools: ['x', 'y'], disableTools: ['y'] })], OWN)
    expect(catalogue.tool('mcp__a__x')).toBeDefined()
    expect(catalogue.tool('mcp__a__y')).toBeUndefined()
    expect(catalogue.mayCall('a', 'z')).toBe(false)
  })

  it('sends a resource to who listed it first, else by template, else by scheme', () => {
    const able = { initialize: { capabilities: { resources: {} } } }
    const catalogue = new Catalogue(
      [
        server('a', { ...able, lists: { resources: [{ uri: 'x://1' }] } }),
        server('b', {
          ...able,
          lists: { resources: [{ uri: 'x://1' }, { uri: 'y://1' }], resourceTemplates: [{ uriTemplate: 'x://b/{id}' }] },
        }),
        server('c', { lists: { resourceTemplates: [{ uriTemplate: 'x://b/deep/{+path}' }] } }),
      ],
      OWN,
    )
    expect(catalogue.lists.resources).toEqual([{ uri: 'x://1' }, { uri: 'y://1' }])
    expect(catalogue.resource('x://1')).toBe('a')
    expect(catalogue.resource('x://b/7')).toBe('b')
    expect(catalogue.resource('x://b/deep/7/8')).toBe('c')
    expect(catalogue.resource('y://other')).toBe('b')
    expect(catalogue.resource('z://other')).toBe('a')
    expect(catalogue.template('x://b/{id}')).toBe('b')
  })

  it('leaves the URIs of our own schemes to us', () => {
    const catalogue = new Catalogue(
      [server('a', { lists: { resources: [{ uri: 'workspace://x' }, { uri: 'SKILL://x' }] } })],
      OWN,
    )
    expect(catalogue.lists.resources).toEqual([])
    expect(catalogue.resource('workspace://x')).toBeUndefined()
  })
})
