import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notebook } from '../support/documents.ts'
import type { ShownCall } from './call.ts'
import { TIMEOUT_MS } from './normalise.ts'

/** What goes wrong, and what an agent reads then. The calls go on in the session of the typical ones. */
export const FAILING: readonly ShownCall[] = [
  { says: 'A tool that is not there', tool: 'Bsh', args: { command: 'ls' } },
  { says: 'A required argument is missing', tool: 'Bash', args: {} },
  { says: 'An argument that the tool does not have', tool: 'Bash', args: { command: 'ls', timeuot: 5 } },
  { says: 'An argument of the wrong kind', tool: 'Bash', args: { command: 'ls', timeout: 'soon' } },
  { says: 'A command that takes too long', tool: 'Bash', args: { command: 'echo start; sleep 60', timeout: TIMEOUT_MS } },
  { says: 'A NUL in a command', tool: 'Bash', args: { command: 'echo \u0000' } },
  {
    says: 'The directory of the shell is gone',
    tool: 'Bash',
    args: { command: 'echo never' },
    before: async (dir, client) => {
      mkdirSync(join(dir, 'short-lived'))
      await client.text('Bash', { command: 'cd short-lived' })
      rmSync(join(dir, 'short-lived'), { recursive: true })
    },
  },
  { says: 'A job that is not there', tool: 'BashOutput', args: { id: 'nosuchjob' } },
  { says: 'A filter that is no pattern', tool: 'BashOutput', args: { id: '{build}', filter: '(' } },
  { says: 'Input for a job that reads none', tool: 'BashInput', args: { id: '{child}', text: 'x\n' } },
  { says: 'Keys for a job without a terminal', tool: 'BashInput', args: { id: '{child}', keys: 'ctrl-c' } },
  { says: 'A key that is none', tool: 'BashInput', args: { id: '{terminal}', keys: 'ctlr-c' } },
  { says: 'Nothing to send', tool: 'BashInput', args: { id: '{terminal}' } },
  { says: 'A size for a command without a terminal', tool: 'Bash', args: { command: 'top', size: '80x24' } },
  { says: 'Input for a job that has ended', tool: 'BashInput', args: { id: '{reader}', text: 'x\n' } },
  { says: 'A signal that is none', tool: 'KillBash', args: { id: '{child}', signal: 'SIGSTOPP' } },
  { says: 'A file that is not there', tool: 'Read', args: { file_path: 'src/aap.ts' } },
  { says: 'A folder that is not there', tool: 'Read', args: { file_path: 'source/app.ts' } },
  { says: 'A directory', tool: 'Read', args: { file_path: 'src' } },
  { says: 'A device', tool: 'Read', args: { file_path: '/dev/zero' } },
  { says: 'A long PDF without pages', tool: 'Read', args: { file_path: 'media/manual.pdf' } },
  { says: 'Pages that a PDF does not have', tool: 'Read', args: { file_path: 'media/prices.pdf', pages: '3-4' } },
  { says: 'Too many pages at once', tool: 'Read', args: { file_path: 'media/manual.pdf', pages: '1-30' } },
  { says: 'Pages of what is no PDF', tool: 'Read', args: { file_path: 'README.md', pages: '1' } },
  { says: 'Writing over a file that was not read', tool: 'Write', args: { file_path: 'src/util.ts', content: 'new' } },
  { says: 'Writing below a file', tool: 'Write', args: { file_path: 'README.md/new.txt', content: 'new' } },
  {
    says: 'Editing a file that was not read',
    tool: 'Edit',
    args: { file_path: 'src/util.ts', old_string: 'mean', new_string: 'average' },
  },
  {
    says: 'A text that is not there',
    tool: 'Edit',
    args: { file_path: 'src/app.ts', old_string: '  const sum = total(prices)', new_string: '  const sum = 0' },
  },
  { says: 'A text that is there twice', tool: 'Edit', args: { file_path: 'src/app.ts', old_string: 'amounts', new_string: 'x' } },
  { says: 'Nothing to change', tool: 'Edit', args: { file_path: 'src/app.ts', old_string: 'sum', new_string: 'sum' } },
  {
    says: 'A change that would break a notebook',
    tool: 'Edit',
    args: { file_path: 'prices.ipynb', old_string: '"cells": [', new_string: '"parts": [' },
  },
  {
    says: 'A text that is in two cells',
    tool: 'Edit',
    args: { file_path: 'docs/twice.ipynb', old_string: 'x = 1', new_string: 'x = 2' },
    before: async (dir, client) => {
      writeFileSync(join(dir, 'docs/twice.ipynb'), notebook([{ source: 'x = 1' }, { source: 'x = 1\ny = 2' }]))
      await client.text('Read', { file_path: 'docs/twice.ipynb' })
    },
  },
  {
    says: 'A file that somebody changed meanwhile',
    tool: 'Edit',
    args: { file_path: 'docs/plan.md', old_string: 'round', new_string: 'round up' },
    before: dir => writeFileSync(join(dir, 'docs/plan.md'), '# Plan\n\n- round, and another\n'),
  },
  { says: 'A file that is not there', tool: 'Edit', args: { file_path: 'src/none.ts', old_string: 'a', new_string: 'b' } },
  { says: 'A folder that is not there', tool: 'Glob', args: { pattern: '*.ts', path: 'sources' } },
  { says: 'A pattern that is none', tool: 'Grep', args: { pattern: 'total(' } },
  { says: 'A kind of file that is none', tool: 'Grep', args: { pattern: 'total', type: 'typescrpt' } },
  { says: 'A path that is not there', tool: 'Grep', args: { pattern: 'total', path: 'scr' } },
  { says: 'A skill that is not there', tool: 'Skill', args: { skill: 'large-file' } },
  { says: 'A folder without a skill', tool: 'skill_add', args: { path: 'src' } },
  { says: 'Removing a skill that is not there', tool: 'skill_remove', args: { skill: 'release-notes' } },
  { says: 'A workspace that is not there', tool: 'workspace_use', args: { workspace: 'experimnt' } },
  { says: 'A call in a workspace that is not there', tool: 'Bash', args: { command: 'ls', workspace: 'experiment' } },
  { says: 'A name that is none', tool: 'workspace_create', args: { name: '../outside' } },
  { says: 'A backend that is none', tool: 'workspace_create', args: { backend: 'dokcer' } },
  { says: 'An image that is not allowed', tool: 'workspace_create', args: { name: 'other', image: 'debian:12' } },
  { says: "Deleting a directory of the user's", tool: 'workspace_delete', args: { confirm: true } },
  {
    says: 'A deletion that the user declines',
    tool: 'workspace_delete',
    user: 'decline',
    args: { confirm: true },
    before: (_dir, client) => client.text('workspace_create', { name: 'draft' }).then(() => {}),
  },
  { says: 'A deletion that the user leaves open', tool: 'workspace_delete', user: 'cancel', args: {} },
  { says: 'An MCP server without a program', tool: 'mcp_add', args: { name: 'ghost', command: 'no-such-program' } },
  { says: 'An MCP server with neither program nor URL', tool: 'mcp_add', args: { name: 'ghost' } },
  { says: 'A nested server that is not there', tool: 'mcp_call', args: { server: 'pricess', tool: 'count' } },
  { says: 'A nested tool that is not there', tool: 'mcp__prices__count', args: {} },
  { says: 'Removing a server that is not there', tool: 'mcp_remove', args: { name: 'prices' } },
  { says: 'Messages that are none', tool: 'offload_context', args: { messages: 'hello' } },
  { says: 'A result without an id', tool: 'offload_tool_result', args: { result: 'text' } },
]
