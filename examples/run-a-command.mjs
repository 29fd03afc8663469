// Starts Atelier as any MCP client does, runs a command in the current directory, and writes what came while it ran.
//   node examples/run-a-command.mjs 'for i in 1 2 3; do echo $i; sleep 1; done'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const atelier = fileURLToPath(new URL('../dist/loader.cjs', import.meta.url))
const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: [atelier] }))

const command = process.argv[2] ?? 'echo hello from $PWD'
const onprogress = ({ message }) => process.stderr.write(message ?? '')
const { content } = await client.callTool({ name: 'Bash', arguments: { command } }, undefined, { onprogress })
for (const part of content) process.stdout.write(`${part.text}\n`)
await client.close()
