import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/backends/kubernetes/cluster.ts'
import { putIn } from '../../../src/backends/kubernetes/put-in.ts'

/** A Pod whose exec answers `said`, takes `size` bytes of the program and hangs up with `status`, before the end of the input was sent. */
function podThat(said: string, size: number, status: string) {
  const got: Buffer[] = []
  const connect = async (_path: string, _text: null, take: (channel: number, data: Buffer) => boolean) => {
    const socket = Object.assign(new EventEmitter(), {
      ...{ isPaused: false, ping() {}, pause() {}, resume() {}, terminate() {} },
      send(data: Buffer, done?: () => void) {
        // The end is never acknowledged.
        if (data[0] !== 0) return
        got.push(Buffer.from(data.subarray(1)))
        done?.()
        const whole = Buffer.concat(got)
        if (whole.length - whole.indexOf('\n') - 1 < size) return
        take(1, Buffer.from('done\n'))
        take(3, Buffer.from(status))
      },
    })
    setImmediate(() => {
      take(1, Buffer.from(said))
      if (!said.includes('send')) take(3, Buffer.from(status))
    })
    return socket
  }
  const cluster = { namespace: 'n', exec: () => ({ handler: { connect } }) } as unknown as Cluster
  return { cluster, got: () => Buffer.concat(got).toString() }
}

const program = { path: 'gateway.mjs', data: Buffer.from('the program'), mode: 0o755 }
const options = { program, image: 'i', cacheFolder: '/nowhere' }
const SUCCESS = '{"status":"Success"}'

test('what is missing is sent, and a Pod that hangs up as soon as it has it holds nobody up', async () => {
  const { cluster, got } = podThat('node /usr/bin/node\nsystem Linux\ncpu x86_64\nsend\n', 11, SUCCESS)
  await putIn(cluster, 'pod', options)
  expect(got()).toBe('0 11\nthe program')
})

test('where all is there nothing is sent', async () => {
  const { cluster, got } = podThat('ready\n', 0, SUCCESS)
  await putIn(cluster, 'pod', options)
  expect(got()).toBe('')
})

test('an image that no node runs on is told before anything is sent; a Pod that could not write says why', async () => {
  const none = podThat('old 12.1.0\nsystem Linux\ncpu x86_64\nsend\n', 11, SUCCESS)
  await expect(putIn(none.cluster, 'pod', options)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/"i" has only Node 12.1.0, and it has no glibc/),
  })
  expect(none.got()).toBe('')
  const failed = '{"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"1"}]}}'
  const full = podThat('node /n\nsystem Linux\ncpu x86_64\nsend\n', 11, failed)
  await expect(putIn(full.cluster, 'pod', options)).rejects.toMatchObject({ code: 'unavailable' })
})
