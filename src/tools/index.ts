export { TOOLS } from './all-tools.ts'
export { runTool } from './run-tool.ts'
