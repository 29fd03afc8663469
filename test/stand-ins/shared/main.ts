import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mount, parseMounts } from './containers.ts'
import type { RunningStandIn } from './server.ts'

export interface StandInOptions {
  port: number
  /** Folder that what is known is kept in. */
  stateDir: string
  mounts: readonly Mount[]
  image?: string
}

export interface StandIn extends RunningStandIn {
  /** Removes every sandbox. */
  removeAll(): Promise<void>
}

const HELP = `usage: npm run stand-in NAME -- [--port N] [--state DIR] [--image IMAGE] [--until-stdin-ends]

  --port N             port on loopback; default: any
  --state DIR          keeps what is known there, and every sandbox at the end; default: a temporary folder, and nothing is kept
  --image IMAGE        image of the sandboxes; default: ATELIER_TEST_IMAGE, else atelier-base:latest
  --until-stdin-ends   ends when its standard input does

ATELIER_STAND_IN_MOUNTS=SOURCE:TARGET[:ro],… is mounted into every sandbox.
`

/** The command line of a stand-in: starts it, prints its URL, and ends it with what it made at a signal. */
export async function runStandIn(start: (options: StandInOptions) => Promise<StandIn>): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      ...{ port: { type: 'string' }, state: { type: 'string' }, image: { type: 'string' } },
      ...{ 'until-stdin-ends': { type: 'boolean' }, help: { type: 'boolean' } },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const stateDir = values.state ?? mkdtempSync(join(tmpdir(), 'stand-in-'))
  const standIn = await start({
    ...{ port: Number(values.port ?? 0), stateDir, mounts: parseMounts(process.env.ATELIER_STAND_IN_MOUNTS) },
    ...(values.image === undefined ? {} : { image: values.image }),
  })
  let ending = false
  const end = async (): Promise<void> => {
    if (ending) return
    ending = true
    await standIn[Symbol.asyncDispose]()
    if (values.state === undefined) {
      await standIn.removeAll()
      rmSync(stateDir, { recursive: true, force: true })
    }
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
  if (values['until-stdin-ends']) process.stdin.resume().once('end', () => void end())
  process.stdout.write(`${standIn.url}\n`)
}
