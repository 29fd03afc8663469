import type { WebSocket } from 'ws'
import { answer, jsonOf, Refusal, type Route } from './http.ts'
import { PtySession } from './pty-session.ts'
import { PtySocket } from './pty-socket.ts'

type Refuse = (status: number, text: string, body: object) => void
type Accept = (taken: (socket: WebSocket) => void) => void

/** `/pty`: sessions over HTTP, their streams over websockets. */
export function createPtyRoutes(): { routes: Route[]; upgrade(url: URL, refuse: Refuse, accept: Accept): void } {
  const sessions = new Map<string, PtySession>()
  const holders = new Map<string, PtySocket>()
  const sessionOf = (id = ''): PtySession => {
    const session = sessions.get(id)
    if (session === undefined) throw new Refusal(404, 'CONTEXT_NOT_FOUND', `pty session ${id} not found`)
    return session
  }
  const routes: Route[] = [
    {
      method: 'POST',
      path: /^\/pty$/,
      async run(call) {
        const session = new PtySession(await jsonOf(call.request))
        sessions.set(session.id, session)
        answer(call, 201, { session_id: session.id })
      },
    },
    {
      method: 'GET',
      path: /^\/pty\/([^/]+)$/,
      async run(call) {
        const { id, running, ring } = sessionOf(call.parts[0])
        answer(call, 200, { session_id: id, running, output_offset: ring.offset })
      },
    },
    {
      method: 'DELETE',
      path: /^\/pty\/([^/]+)$/,
      async run(call) {
        const session = sessionOf(call.parts[0])
        sessions.delete(session.id)
        session.signal('SIGKILL')
        answer(call, 200)
      },
    },
  ]
  return {
    routes,
    upgrade(url, refuse, accept) {
      const session = sessions.get(/^\/pty\/([^/]+)\/ws$/.exec(url.pathname)?.[1] ?? '')
      if (session === undefined) return refuse(404, 'Not Found', { code: 'CONTEXT_NOT_FOUND' })
      if (url.searchParams.get('pty') !== '0') return refuse(501, 'Not Implemented', { code: 'NOT_SUPPORTED' })
      const takeover = url.searchParams.get('takeover') === '1'
      if (session.taken && !takeover) return refuse(409, 'Conflict', { code: 'ALREADY_CONNECTED' })
      accept(socket => {
        holders.get(session.id)?.takeOver()
        holders.set(session.id, new PtySocket(socket, session, Number(url.searchParams.get('since') ?? 0)))
      })
    },
  }
}
