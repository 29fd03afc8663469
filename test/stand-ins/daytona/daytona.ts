import type { IncomingMessage, ServerResponse } from 'node:http'
import { Faults } from '../shared/faults.ts'
import type { StandIn, StandInOptions } from '../shared/main.ts'
import { Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson, serve } from '../shared/server.ts'
import { type Api, answerApi } from './api.ts'
import { Life } from './life.ts'
import { Terminals } from './pty.ts'
import { type Accounts, errorBody, Refusal, type SandboxData } from './sandbox.ts'
import { answerToolbox, type Toolbox } from './toolbox.ts'

/** A key that begins so is refused. */
const WRONG_KEY = /^wrong/

/**
 * Serves the API below `/api` and every sandbox's toolbox below `/toolbox/ID` on one port. A key is an organization of its own;
 * `PUT /__accounts/KEY` with mounts says what its sandboxes see.
 */
export async function startDaytona(options: StandInOptions): Promise<StandIn & { faults: Faults }> {
  const { port, stateDir, mounts, image } = options
  const sandboxes = new Sandboxes<SandboxData>({
    service: 'daytona',
    stateDir,
    mounts,
    ...(image === undefined ? {} : { image }),
  })
  const accounts: Accounts = new Map()
  const life = new Life(sandboxes, accounts)
  const faults = new Faults(errorBody)
  const terminals = new Terminals(sandboxes, faults)
  life.onInterrupted = id => terminals.interrupt(id)
  const toolbox: Toolbox = { life, sandboxes, terminals }
  const api = { life, faults }
  const byId = (id: string) => sandboxes.get(id) as NonNullable<ReturnType<typeof sandboxes.get>>
  const done = async (begin: () => void): Promise<void> => {
    begin()
    await life.settled()
  }
  const running = await serve(
    {
      faults,
      deeds: {
        stop: id => done(() => life.stop(byId(id))),
        archive: id => done(() => life.archive(byId(id))),
        delete: id => done(() => life.delete(byId(id))),
        break: id => life.break(id, false),
        'break-recoverable': id => life.break(id, true),
        idle: id => life.idle(id),
        rest: id => life.rest(id),
      },
      answer: (request, response) => answer({ api, toolbox, accounts }, request, response),
      async upgrade({ path, query, message }, socket, head) {
        const [, part, id = '', ...rest] = path.split('/').map(decodeURIComponent)
        if (part !== 'toolbox' || accountOf(message) !== byId(id)?.data.account) return void socket.destroy()
        await terminals.upgrade({ id, rest, query, message }, socket, head)
      },
    },
    port,
  )
  return {
    ...{ url: running.url, faults },
    async removeAll() {
      await life.settled()
      await Promise.all(sandboxes.all().map(({ id }) => sandboxes.remove(id)))
    },
    async [Symbol.asyncDispose]() {
      life.stopClock()
      terminals.interruptAll()
      await running[Symbol.asyncDispose]()
    },
  }
}

interface Parts {
  api: Omit<Api, 'url'>
  toolbox: Toolbox
  accounts: Accounts
}

async function answer({ api, toolbox, accounts }: Parts, request: Request, response: ServerResponse): Promise<void> {
  try {
    const [, part, ref = ''] = request.path.split('/').map(decodeURIComponent)
    if (part === '__accounts') {
      accounts.set(ref, JSON.parse(await bodyOf(request.message)) as NonNullable<ReturnType<Accounts['get']>>)
      return sendJson(response, 200, {})
    }
    const account = accountOf(request.message)
    if (account === undefined) throw new Refusal(401, 'Unauthorized')
    // The toolbox is where the client sees this service.
    const url = () => `http://${request.message.headers.host}`
    if (part === 'api') await answerApi({ ...api, url }, account, request, response)
    else if (part === 'toolbox') await answerToolbox(toolbox, { sandbox: api.life.get(account, ref), request, response })
    else throw new Refusal(404, `Cannot ${request.method} ${request.path}`)
  } catch (error) {
    if (!(error instanceof Refusal) || response.headersSent) throw error
    sendJson(response, error.status, errorBody(error.status, error.message, error.code))
  }
}

function accountOf({ headers }: IncomingMessage): string | undefined {
  const key = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
  return key === undefined || WRONG_KEY.test(key) ? undefined : key
}
