// The AI SDK with a workspace's tools: an MCP client in this process, no server. The model here only plays its part.
//   npm install ai @ai-sdk/mcp; node examples/ai-sdk.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMCPClient } from '@ai-sdk/mcp'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { LocalWorkspace } from 'atelier'

const SCRIPT = [
  { toolName: 'Write', input: { file_path: 'numbers.txt', content: '3\n1\n2\n' } },
  { toolName: 'Bash', input: { command: 'sort -n numbers.txt | tail -n 1' } },
]

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
let step = 0
const model = new MockLanguageModelV3({
  async doGenerate({ prompt }) {
    const next = SCRIPT[step++]
    if (next !== undefined) {
      const call = { type: 'tool-call', toolCallId: `call-${step}`, toolName: next.toolName, input: JSON.stringify(next.input) }
      return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
    }
    const [{ output }] = prompt.at(-1).content
    const said = output.value.map?.(part => part.text).join('') ?? JSON.stringify(output.value)
    return {
      content: [{ type: 'text', text: `The largest one is ${said}` }],
      finishReason: { unified: 'stop' },
      usage,
      warnings: [],
    }
  },
})

const directory = mkdtempSync(join(tmpdir(), 'example-'))
const workspace = await new LocalWorkspace({ directory }).initialize()
try {
  const client = await createMCPClient({ transport: workspace.connect() })
  const answer = await generateText({
    model,
    tools: await client.tools(),
    system: workspace.getInstructions(),
    prompt: 'Which of 3, 1 and 2 is the largest?',
    stopWhen: stepCountIs(10),
  })
  process.stdout.write(`${answer.text.trim()}\n`)
  await client.close()
} finally {
  await workspace.close()
  rmSync(directory, { recursive: true })
}
