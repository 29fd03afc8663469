// A workspace inside a program, without any server: its tools as plain functions.
//   node examples/library.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalWorkspace } from 'atelier'

const directory = mkdtempSync(join(tmpdir(), 'example-'))
// Or: new DockerWorkspace({ directory })
const workspace = await new LocalWorkspace({ directory }).initialize()
try {
  const tools = new Map((await workspace.listTools()).map(tool => [tool.name, tool]))

  await tools.get('Write').call({ file_path: 'greeting.txt', content: 'hello\n' })
  const { text } = await tools.get('Bash').call({ command: 'tr a-z A-Z < greeting.txt' })
  process.stdout.write(`${text}\n`)
} finally {
  await workspace.close()
  rmSync(directory, { recursive: true })
}
