import type { EnvironmentInfo } from '../backends/backend.ts'

/** What an agent should know of the place that it works in. `{backend}`, `{workdir}` and `{root}` are filled in. */
export const DEFAULT_INSTRUCTIONS = `You have a workspace of your own ({backend}). Its directory is {workdir}: relative paths start there, and commands begin there.

Folders that Atelier manages, under {root}. Read them freely; do not edit, move or delete what is in them:
- data/ holds shared files named by their content.
- skills/ holds instructions for particular kinds of work; look for one that fits before you start.
- sessions/ holds conversation parts and long results that were moved out of your context; the reference left in their place names the file.
- .atelier/ holds running commands and their full logs.

Working here
- If the directory is a project already, follow its structure and its rules. Otherwise keep the top level tidy: give each new piece of work a folder named after date and topic, with a README that says what it is for, when it began and what was decided.
- Throw-away files go to scratch/, which stays out of version control.
- Others may be working in the same place at the same time, and nothing locks a file for you. In a shared repository work in a git worktree, put your name into what you create, and delete only what is yours.
- Keep work under version control in small steps, and keep passwords, tokens and keys out of it.
- Give each Python project its own environment (uv, or venv); install nothing globally.
- The shell's directory and exported variables carry over from one command to the next. Start servers and long commands with run_in_background, then follow them with BashOutput and end them with KillBash.
`

/** Instructions for the agent of a workspace, from the default text or a template; braces that name nothing stay as they are. */
export function renderInstructions(info: EnvironmentInfo, template: string = DEFAULT_INSTRUCTIONS): string {
  const values: Record<string, string> = { backend: info.backend, workdir: info.workdir, root: info.root }
  return template.replace(/\{(backend|workdir|root)\}/g, (_, name: string) => values[name]!)
}
