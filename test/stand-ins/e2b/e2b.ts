import { Faults } from '../shared/faults.ts'
import type { StandIn, StandInOptions } from '../shared/main.ts'
import { Sandboxes } from '../shared/sandboxes.ts'
import { bodyOf, type Request, sendJson, serve } from '../shared/server.ts'
import { answerApi } from './api.ts'
import { Envd } from './envd.ts'
import { Life } from './life.ts'
import type { AccountMount, Accounts, SandboxData } from './sandbox.ts'

/** Serves the API and the router to all envds on one port; `PUT /__accounts/KEY` with mounts says what a key's sandboxes see. */
export async function startE2b(options: StandInOptions): Promise<StandIn & { faults: Faults }> {
  const { port, stateDir, mounts, image } = options
  const sandboxes = new Sandboxes<SandboxData>({ service: 'e2b', stateDir, mounts, ...(image === undefined ? {} : { image }) })
  const accounts: Accounts = new Map()
  const life = new Life(sandboxes, accounts)
  const envd = new Envd(sandboxes)
  life.onInterrupted = id => envd.interrupt(id)
  const faults = new Faults()
  const deeds = {
    expire: (id: string) => life.expire(id),
    pause: async (id: string) => void (await life.pause(id)),
    kill: (id: string) => life.kill(id),
  }
  const running = await serve(
    {
      ...{ faults, deeds },
      async answer(request, response) {
        const id = request.message.headers['e2b-sandbox-id']
        if (typeof id === 'string') await envd.answer(id, request, response)
        else if (request.path.startsWith('/__accounts/')) {
          accounts.set(request.path.split('/')[2] ?? '', await mountsOf(request))
          sendJson(response, 200, {})
        } else await answerApi({ sandboxes, life, faults }, request, response)
      },
    },
    port,
  )
  return {
    ...{ url: running.url, faults },
    async removeAll() {
      await Promise.all(sandboxes.all().map(({ id }) => life.kill(id)))
    },
    async [Symbol.asyncDispose]() {
      life.stopClocks()
      await running[Symbol.asyncDispose]()
    },
  }
}

async function mountsOf({ message }: Request): Promise<AccountMount[]> {
  return JSON.parse(await bodyOf(message)) as AccountMount[]
}
