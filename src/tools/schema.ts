import { z } from 'zod'
import { TOOLS } from './all-tools.ts'
import type { Tool, ToolAnnotations } from './tool.ts'

/** JSON Schema of one argument, as far as Atelier's own tools need it. */
export interface ArgumentSchema {
  type?: string
  description?: string
  enum?: string[]
  anyOf?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  additionalProperties?: ArgumentSchema
  items?: ArgumentSchema
}

/** JSON Schema of a tool's arguments. */
export interface InputSchema {
  type: 'object'
  properties: Record<string, ArgumentSchema>
  required?: string[]
  additionalProperties: false
}

/** A tool as `tools/list` shows it. */
export interface ToolDeclaration {
  name: string
  title: string
  description: string
  inputSchema: InputSchema
  annotations: ToolAnnotations
  _meta?: Record<string, unknown>
  [field: string]: unknown
}

/** Key under which clients look for the largest result to keep in their context. */
const MAX_RESULT_KEY = 'anthropic/maxResultSizeChars'

/** JSON Schema of a tool's arguments, with `workspace` where the tool takes one; unknown arguments are not allowed. */
export function toolSchema(tool: Tool): InputSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { override: ({ jsonSchema }) => lighten(jsonSchema) })
  const input = schema as unknown as InputSchema
  if (!tool.takesWorkspace) return input
  const workspace = { type: 'string', description: 'Id or name; default: the current one' }
  return { ...input, properties: { ...input.properties, workspace } }
}

/** Drops what says nothing to a model: bounds of safe integers, the type of names, lengths of required text. */
function lighten(schema: Record<string, unknown>): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  delete schema.propertyNames
  delete schema.minLength
}

/** All of Atelier's own tools, as `tools/list` shows them. */
export function toolDeclarations(): ToolDeclaration[] {
  return TOOLS.map(tool => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: toolSchema(tool),
    annotations: tool.annotations,
    ...(tool.asTask === true && { execution: { taskSupport: 'optional' } }),
    ...(tool.maxResultChars === undefined ? {} : { _meta: { [MAX_RESULT_KEY]: tool.maxResultChars } }),
  }))
}
