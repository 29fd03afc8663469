// LangChain with a workspace's tools, through the MCP client of the SDK. The model here only plays its part.
//   npm install @langchain/core @langchain/mcp-adapters @modelcontextprotocol/sdk; node examples/langchain.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { loadMcpTools } from '@langchain/mcp-adapters'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { LocalWorkspace } from 'atelier'

const SCRIPT = [
  { name: 'Write', args: { file_path: 'numbers.txt', content: '3\n1\n2\n' } },
  { name: 'Bash', args: { command: 'sort -n numbers.txt | tail -n 1' } },
]
const model = new FakeListChatModel({ responses: SCRIPT.map(call => JSON.stringify(call)).concat('The largest one is ') })

const directory = mkdtempSync(join(tmpdir(), 'example-'))
const workspace = await new LocalWorkspace({ directory }).initialize()
try {
  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(workspace.connect())
  const tools = new Map((await loadMcpTools('atelier', client)).map(tool => [tool.name, tool]))

  const messages = [new HumanMessage('Which of 3, 1 and 2 is the largest?')]
  for (let last = ''; ; ) {
    const { content } = await model.invoke(messages)
    if (!content.startsWith('{')) {
      process.stdout.write(`${content}${last}\n`)
      break
    }
    const call = { ...JSON.parse(content), id: `call-${messages.length}`, type: 'tool_call' }
    const answer = await tools.get(call.name).invoke(call)
    messages.push(new AIMessage({ content: '', tool_calls: [call] }), answer)
    // An answer with structured parts comes as JSON.
    last = answer.content.startsWith('{') ? JSON.parse(answer.content).text : answer.content
  }
  await client.close()
} finally {
  await workspace.close()
  rmSync(directory, { recursive: true })
}
