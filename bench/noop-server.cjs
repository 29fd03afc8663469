// An MCP server with one tool that does nothing. It is run as a file, or passed whole to `node -e` where the file is not.
const answers = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'noop', version: '1' },
  },
  'tools/list': { tools: [{ name: 'noop', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}
require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', line => {
    const { id, method } = JSON.parse(line)
    if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} })}\n`)
  })
  .on('close', () => process.exit(0))
