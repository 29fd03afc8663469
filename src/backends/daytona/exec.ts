import { randomBytes } from 'node:crypto'
import { quote } from '../../gateway/commands/quote.ts'
import { formatMs, withDeadline } from '../../lib/deadline.ts'
import { toWorkspaceError, WorkspaceError } from '../../lib/errors.ts'
import type { ExecOptions, ExecResult } from '../backend.ts'
import { MAX_OUTPUT } from '../collect-output.ts'
import { statusOf } from './errors.ts'
import type { DaytonaContext, Sandbox } from './sdk.ts'

const DEFAULT_LIMIT_MS = 120_000
/** The service may answer so much after its own time limit. */
const SLACK_MS = 5_000
const CLEAN_UP_MS = 5_000
const TIMED_OUT = 408

/**
 * The service gives back one text of both outputs, in UTF-8; so they pass through files, in base64. The group's number is kept for
 * the case that the command must be ended.
 */
const SCRIPT = `dir=$1 most=$2; shift 2
umask 077; mkdir "$dir" || exit 125
echo "$$" > "$dir/group"; base64 -d > "$dir/in" || exit 125
"$@" < "$dir/in" > "$dir/out" 2> "$dir/err"
code=$?
printf '\\n<%s ' "$code"
for file in out err; do head -c "$most" "$dir/$file" | base64 | tr -d '\\n'; printf ' '; done
printf '>\\n'
rm -rf "$dir"`

const CLEAN_UP = `dir=$1
group=$(cat "$dir/group" 2>/dev/null) && kill -s KILL -- "-$group" 2>/dev/null
rm -rf "$dir"`

/**
 * Runs a command in a sandbox and gives its outputs byte for byte. Its group is killed on abort (`cancelled`) and at the time limit
 * (`timeout`). Throws what the service says as an error of the SDK's, still unmapped where it is one.
 */
export async function execInside(
  context: DaytonaContext,
  sandbox: Sandbox,
  argv: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const { signal, timeoutMs = DEFAULT_LIMIT_MS, input } = options
  const what = argv[0] ?? ''
  const dir = `/tmp/.atelier-exec-${randomBytes(8).toString('hex')}`
  const command = commandLine(['sh', '-c', SCRIPT, 'sh', dir, String(MAX_OUTPUT + 1), ...argv], input)
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000))
  try {
    const run = () => sandbox.process.executeCommand(command, undefined, undefined, seconds)
    const { result } = await context.calls.run(
      `${what} in sandbox ${sandbox.name}`,
      () => withDeadline(run(), seconds * 1_000 + SLACK_MS, what),
      { signal },
    )
    return parse(what, result)
  } catch (error) {
    const late = statusOf(error) === TIMED_OUT || toWorkspaceError(error).code === 'timeout'
    if (signal?.aborted || late) await cleanUp(context, sandbox, dir)
    if (late) throw new WorkspaceError('timeout', `${what}: no end after ${formatMs(timeoutMs)}.`)
    throw error
  }
}

/** One command line; the input follows in base64. The shell reads its commands from its own standard input. */
function commandLine(argv: readonly string[], input: Uint8Array = Buffer.alloc(0)): string {
  const encoded = Buffer.from(input)
    .toString('base64')
    .replace(/.{1,1024}/g, '$&\n')
  return `exec ${argv.map(quote).join(' ')} <<'ATELIER_INPUT'\n${encoded}ATELIER_INPUT\n`
}

function parse(what: string, result: string): ExecResult {
  const [code = '', out = '', err = '', end] = result.slice(result.lastIndexOf('\n<') + 2).split(' ')
  if (!/^\d+$/.test(code) || end?.trim() !== '>') {
    throw new WorkspaceError(
      'unavailable',
      `${what}: the sandbox gave no answer that makes sense: ${result.trim().slice(-300)}`,
      {
        hint: 'The image needs sh, base64, head and tr, and a /tmp that can be written to.',
      },
    )
  }
  const [stdout, stderr] = [Buffer.from(out, 'base64'), Buffer.from(err, 'base64')]
  if (stdout.length > MAX_OUTPUT || stderr.length > MAX_OUTPUT) throw new WorkspaceError('too_large', `${what}: wrote too much.`)
  return { exitCode: Number(code), stdout, stderr }
}

/** Ends what is left of a command; the service itself may have done so. */
async function cleanUp({ logger }: DaytonaContext, sandbox: Sandbox, dir: string): Promise<void> {
  const command = commandLine(['sh', '-c', CLEAN_UP, 'sh', dir])
  const seconds = CLEAN_UP_MS / 1_000
  try {
    const run = sandbox.process.executeCommand(command, undefined, undefined, seconds)
    await withDeadline(run, CLEAN_UP_MS, 'Ending a command')
  } catch (error) {
    logger.debug({ sandbox: sandbox.name, reason: toWorkspaceError(error).message }, 'a command was not ended')
  }
}
