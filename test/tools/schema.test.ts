import { encode } from 'gpt-tokenizer'
import { describe, expect, it } from 'vitest'
import { TOOLS } from '../../src/tools/index.ts'
import { toolDeclarations } from '../../src/tools/schema.ts'

/** Inputs of each tool, `?` for optional ones. */
const INPUTS: Record<string, string> = {
  Bash: 'command description? timeout? run_in_background? input? size? workspace?',
  BashOutput: 'id offset? filter? wait? workspace?',
  BashInput: 'id text? keys? eof? size? workspace?',
  KillBash: 'id signal? workspace?',
  Read: 'file_path offset? limit? pages? images? workspace?',
  Write: 'file_path content workspace?',
  Edit: 'file_path old_string new_string replace_all? workspace?',
  Glob: 'pattern path? workspace?',
  Grep: 'pattern path? output_mode? glob? type? -i? -n? -A? -B? -C? multiline? head_limit? offset? workspace?',
  Skill: 'skill arguments? workspace?',
  skill_list: 'workspace?',
  skill_add: 'path? archive? format? workspace?',
  skill_remove: 'skill workspace?',
  workspace_create: 'name? backend? image? profile? env?',
  workspace_list: '',
  workspace_status: 'workspace?',
  workspace_use: 'workspace',
  workspace_close: 'workspace?',
  workspace_reset: 'workspace? confirm?',
  workspace_delete: 'workspace? confirm?',
  mcp_list: 'server? workspace?',
  mcp_add: 'name command? args? env? cwd? url? headers? type? expose? workspace?',
  mcp_remove: 'name workspace?',
  mcp_call: 'server tool arguments? workspace?',
  offload_context: 'messages workspace?',
  offload_tool_result: 'id result workspace?',
}

describe('the tool list', () => {
  const declarations = toolDeclarations()

  it('costs less than 5 000 tokens', () => {
    const tokens = encode(JSON.stringify(declarations)).length
    expect(tokens).toBeGreaterThan(500)
    expect(tokens).toBeLessThan(5_000)
  })

  it('has the inputs that the documentation names', () => {
    const shown = declarations.map(({ name, inputSchema: { properties, required = [] } }) => [
      name,
      Object.keys(properties)
        .map(key => (required.includes(key) ? key : `${key}?`))
        .join(' '),
    ])
    expect(Object.fromEntries(shown)).toEqual(INPUTS)
  })

  it.each(declarations.map(declaration => [declaration.name, declaration] as const))(
    '%s is declared in full',
    (_name, declaration) => {
      expect(declaration.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      for (const schema of Object.values(declaration.inputSchema.properties)) expect(schema.type ?? schema.anyOf).toBeDefined()
      expect(Object.keys(declaration.annotations).sort()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ])
      expect(declaration.annotations.readOnlyHint && declaration.annotations.destructiveHint).toBe(false)
      expect(declaration.description.length).toBeGreaterThan(20)
      expect(JSON.parse(JSON.stringify(declaration))).toEqual(declaration)
    },
  )

  it('marks long results for clients', () => {
    const marked = declarations.filter(declaration => declaration._meta !== undefined).map(declaration => declaration.name)
    expect(marked).toEqual(['Bash', 'BashOutput', 'Read', 'Glob', 'Grep', 'Skill'])
    for (const tool of TOOLS) expect(tool.maxResultChars ?? 0).toBeLessThanOrEqual(500_000)
  })
})
