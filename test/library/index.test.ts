import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as atelier from '../../src/index.ts'
import {
  DaytonaWorkspace,
  type DaytonaWorkspaceOptions,
  DockerWorkspace,
  type DockerWorkspaceOptions,
  E2BWorkspace,
  type E2BWorkspaceOptions,
  ERROR_CODES,
  type ErrorCode,
  type Files,
  K8sWorkspace,
  type K8sWorkspaceOptions,
  LocalWorkspace,
  type LocalWorkspaceOptions,
  OpenSandboxWorkspace,
  type OpenSandboxWorkspaceOptions,
  type Search,
  type Shell,
  type ToolResult,
  WorkspaceError,
  WorkspaceManager,
  type WorkspaceTool,
  type WorkspaceTransport,
} from '../../src/index.ts'

test('the public names', () => {
  expect(Object.keys(atelier).sort()).toEqual([
    'DaytonaWorkspace',
    'DockerWorkspace',
    'E2BWorkspace',
    'ERROR_CODES',
    'K8sWorkspace',
    'LocalWorkspace',
    'OpenSandboxWorkspace',
    'WorkspaceError',
    'WorkspaceManager',
  ])
  expect(ERROR_CODES).toContain(new WorkspaceError('not_found', 'x').code)
})

test('constructing touches nothing', () => {
  expect(() => new LocalWorkspace().id).toThrow(WorkspaceError)
  expect(new WorkspaceManager()).toBeInstanceOf(WorkspaceManager)
})

describe('types', () => {
  test('of the classes for services', () => {
    expectTypeOf(E2BWorkspace).constructorParameters.toEqualTypeOf<[options?: E2BWorkspaceOptions | undefined]>()
    expectTypeOf(DaytonaWorkspace).constructorParameters.toEqualTypeOf<[options?: DaytonaWorkspaceOptions | undefined]>()
    expectTypeOf(K8sWorkspace).constructorParameters.toEqualTypeOf<[options?: K8sWorkspaceOptions | undefined]>()
    expectTypeOf(OpenSandboxWorkspace).constructorParameters.toEqualTypeOf<[options?: OpenSandboxWorkspaceOptions | undefined]>()
    for (const one of [E2BWorkspace, DaytonaWorkspace, K8sWorkspace, OpenSandboxWorkspace])
      expect(() => new one().id).toThrow('not open')
    // @ts-expect-error there is no directory of this host in a sandbox
    expect(new E2BWorkspace({ directory: '.' })).toBeInstanceOf(E2BWorkspace)
  })

  test('of LocalWorkspace', () => {
    expectTypeOf(LocalWorkspace).constructorParameters.toEqualTypeOf<[options?: LocalWorkspaceOptions | undefined]>()
    expectTypeOf<LocalWorkspace>().toExtend<AsyncDisposable>()
    const open = () => new LocalWorkspace().initialize()
    expectTypeOf(open).returns.resolves.toEqualTypeOf<LocalWorkspace>()
    expectTypeOf<LocalWorkspace['id']>().toBeString()
    expectTypeOf<LocalWorkspace['shell']>().toEqualTypeOf<Shell>()
    expectTypeOf<LocalWorkspace['files']>().toEqualTypeOf<Files>()
    expectTypeOf<LocalWorkspace['search']>().toEqualTypeOf<Search>()
    expectTypeOf<LocalWorkspace['listTools']>().returns.resolves.toEqualTypeOf<WorkspaceTool[]>()
    expectTypeOf<LocalWorkspace['close']>().returns.resolves.toBeVoid()
    expectTypeOf<LocalWorkspace['getInstructions']>().parameters.toEqualTypeOf<[template?: string | undefined]>()
    // @ts-expect-error an unknown option is refused
    new LocalWorkspace({ image: 'debian' })
  })

  test('of DockerWorkspace: the same but for its options', () => {
    expectTypeOf(DockerWorkspace).constructorParameters.toEqualTypeOf<[options?: DockerWorkspaceOptions | undefined]>()
    expectTypeOf<DockerWorkspace>().toExtend<AsyncDisposable>()
    const open = () => new DockerWorkspace({ image: 'debian', profile: 'hardened', name: 'box' }).initialize()
    expectTypeOf(open).returns.resolves.toEqualTypeOf<DockerWorkspace>()
    expectTypeOf<keyof DockerWorkspace>().toEqualTypeOf<keyof LocalWorkspace>()
    expectTypeOf<DockerWorkspace['shell']>().toEqualTypeOf<Shell>()
    expectTypeOf<DockerWorkspace['listTools']>().returns.resolves.toEqualTypeOf<WorkspaceTool[]>()
    expectTypeOf<DockerWorkspace['connect']>().returns.toExtend<Transport>()
    expectTypeOf<NonNullable<DockerWorkspaceOptions['profiles']>[string]['memoryBytes']>().toEqualTypeOf<number | undefined>()
    // @ts-expect-error what a container gets of the host stands in a profile
    new DockerWorkspace({ mounts: [] })
    // @ts-expect-error a size is bytes
    new DockerWorkspace({ profiles: { small: { memoryBytes: '1GiB' } } })
  })

  test('of a tool and its answer', () => {
    expectTypeOf<WorkspaceTool['call']>().returns.resolves.toEqualTypeOf<ToolResult>()
    expectTypeOf<WorkspaceTool['inputSchema']>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<ToolResult['text']>().toBeString()
  })

  test('of the connection: what the MCP SDK takes as a transport', () => {
    expectTypeOf<WorkspaceTransport>().toExtend<Transport>()
    expectTypeOf<LocalWorkspace['connect']>().returns.toExtend<Transport>()
  })

  test('of the manager and of errors', () => {
    expectTypeOf<WorkspaceManager>().toExtend<AsyncDisposable>()
    expectTypeOf<WorkspaceManager['getWorkspace']>()
      .parameter(0)
      .toExtend<{ user?: string; agent?: string; session?: string } | undefined>()
    expectTypeOf<WorkspaceError['code']>().toEqualTypeOf<ErrorCode>()
    expectTypeOf<ErrorCode>().toEqualTypeOf<(typeof ERROR_CODES)[number]>()
  })
})
