import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { CallToolResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { z } from 'zod'
import { type TestClient, textOf } from '../support/client.ts'
import { until } from '../support/processes.ts'
import { verifies } from '../support/verifies.ts'

interface Task {
  taskId: string
  status: string
  statusMessage?: string
  createdAt: string
  ttl: number | null
}

/** A request as it is; the answer is not checked. */
function request<T>({ client }: TestClient, method: string, params: Record<string, unknown> = {}): Promise<T> {
  return client.request({ method, params }, z.any()) as Promise<T>
}

async function started(client: TestClient, args: Record<string, unknown>): Promise<Task> {
  const { task } = await request<{ task: Task }>(client, 'tools/call', { name: 'Bash', arguments: args, task: { ttl: 60_000 } })
  return task
}

verifies('tasks.job', async ({ client }) => {
  const capabilities = client.client.getServerCapabilities()
  expect(capabilities?.tasks).toMatchObject({ list: {}, cancel: {}, requests: { tools: { call: {} } } })
  const { tools } = await client.client.listTools()
  expect(tools.find(({ name }) => name === 'Bash')?.execution).toEqual({ taskSupport: 'optional' })
  const told: Task[] = []
  client.client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(params as Task))
  const task = await started(client, { command: 'echo begun; sleep 5; echo done; exit 3' })
  expect(task).toMatchObject({ status: 'working', ttl: null })
  const job = task.taskId.split(':').at(-1)
  expect(await client.text('BashOutput', { id: job })).toContain('running')
  expect(await request<Task>(client, 'tasks/get', { taskId: task.taskId })).toMatchObject({ taskId: task.taskId })
  const { tasks } = await request<{ tasks: Task[] }>(client, 'tasks/list')
  expect(tasks.map(({ taskId }) => taskId)).toContain(task.taskId)
  const result = await request<CallToolResult>(client, 'tasks/result', { taskId: task.taskId })
  expect(textOf(result)).toMatch(/^begun\ndone\n[\s\S]*exit code 3/)
  expect(result.isError).toBeUndefined()
  expect(result._meta?.['io.modelcontextprotocol/related-task']).toEqual({ taskId: task.taskId })
  expect(await request<Task>(client, 'tasks/get', { taskId: task.taskId })).toMatchObject({ status: 'completed' })
  await until(() => told.length > 0, 'the end is told')
  expect(told).toMatchObject([{ taskId: task.taskId, status: 'completed', statusMessage: 'exit code 3' }])
})

verifies('tasks.sdk', async ({ client }) => {
  await client.client.listTools()
  const seen: string[] = []
  const call = { name: 'Bash', arguments: { command: 'echo streamed' } }
  const stream = client.client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: {} })
  for await (const message of stream) {
    seen.push(message.type)
    if (message.type === 'result') expect(textOf(message.result as CallToolResult)).toContain('streamed')
  }
  expect(seen).toContain('taskCreated')
  expect(seen.at(-1)).toBe('result')
})

verifies('tasks.cancel', async ({ client, alive }) => {
  const task = await started(client, { command: 'echo pid $$; sleep 300' })
  const id = task.taskId.split(':').at(-1)
  let pid = 0
  await until(async () => {
    pid = Number(/pid (\d+)/.exec(await client.text('BashOutput', { id, offset: 0 }))?.[1] ?? 0)
    return pid > 0
  }, 'the command tells its pid')
  expect(await request<Task>(client, 'tasks/cancel', { taskId: task.taskId })).toMatchObject({ status: 'cancelled' })
  await until(() => !alive(pid), 'the command is gone')
  expect(await request<Task>(client, 'tasks/get', { taskId: task.taskId })).toMatchObject({ status: 'cancelled' })
  await expect(request(client, 'tasks/cancel', { taskId: task.taskId })).rejects.toMatchObject({ code: -32602 })
  const result = await request<CallToolResult>(client, 'tasks/result', { taskId: task.taskId })
  expect(result.isError).toBe(true)
})

verifies('tasks.refused', async ({ client }) => {
  const call = (name: string, args: Record<string, unknown>) =>
    request(client, 'tools/call', { name, arguments: args, task: { ttl: 1_000 } })
  await expect(call('Read', { file_path: 'a.txt' })).rejects.toMatchObject({ code: -32601 })
  await expect(call('Bash', {})).rejects.toThrow(/command/)
  for (const taskId of ['job:ws-aaaaaaaaaaaaaaaaaaaa:0000000000', 'job:nobody:0000000000', 'no-such-task']) {
    await expect(request(client, 'tasks/get', { taskId })).rejects.toThrow(/task/)
  }
})
