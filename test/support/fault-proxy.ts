import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createConnection } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type ErrorAnswer, Faults } from '../stand-ins/shared/faults.ts'
import { pass, relay } from '../stand-ins/shared/pass.ts'
import { type RunningStandIn, serve } from '../stand-ins/shared/server.ts'

/** Where requests go on to. */
export type ProxyTarget = { socketPath: string } | { host: string; port: number; ca: Buffer }

/** Something real that can be told to misbehave. */
export interface FaultProxy extends RunningStandIn {
  faults: Faults
}

/** Starts a proxy in front of a container engine or an API server, at a port (0: any) or a unix socket. Everything passes. */
export async function startFaultProxy(
  target: ProxyTarget,
  { at = 0, errorAnswer }: { at?: number | string; errorAnswer: ErrorAnswer },
): Promise<FaultProxy> {
  const faults = new Faults(errorAnswer)
  const send = (options: RequestOptions) =>
    'ca' in target ? httpsRequest({ ...target, ...options }) : httpRequest({ ...target, ...options })
  const connect = () =>
    'ca' in target
      ? connectTls({ ...target, servername: 'localhost', allowHalfOpen: true } as object)
      : createConnection({ path: target.socketPath, allowHalfOpen: true })
  const running = await serve(
    {
      ...{ faults, deeds: {} },
      answer: ({ message }, response) => {
        const { method, url: path, headers } = message
        return pass(send({ method, path, headers, agent: false }), message, response)
      },
      upgrade: async ({ message }, socket, head) => relay(connect(), message, { socket, head }),
    },
    at,
  )
  return { ...running, faults }
}
