import { text } from './media.mjs'
import { RpcError } from './peer.mjs'

const TIME = '2026-01-01T00:00:00Z'
const RELATED = 'io.modelcontextprotocol/related-task'

/** Tasks that finish when their result is asked for, so that every step is seen. */
export function createTasks(peer) {
  const tasks = new Map()
  let last = 0

  const find = taskId => {
    const task = tasks.get(taskId)
    if (task === undefined) throw new RpcError(-32602, `Task not found: ${taskId}`)
    return task
  }
  const change = (task, status, statusMessage) => {
    Object.assign(task, { status, statusMessage })
    peer.notify('notifications/tasks/status', { ...task })
  }

  return {
    /** The answer to a call that asked for a task. */
    start(ttl) {
      last += 1
      const task = {
        taskId: `reference-task-${last}`,
        status: 'working',
        createdAt: TIME,
        lastUpdatedAt: TIME,
        ttl,
        pollInterval: 50,
      }
      tasks.set(task.taskId, task)
      return { task: { ...task }, _meta: { 'io.modelcontextprotocol/model-immediate-response': 'Started.' } }
    },
    methods: {
      'tasks/get': ({ taskId }) => ({ ...find(taskId) }),
      'tasks/list': () => ({ tasks: [...tasks.values()].map(task => ({ ...task })) }),
      'tasks/result': async ({ taskId }, call) => {
        const task = find(taskId)
        if (task.status === 'cancelled') throw new RpcError(-32603, 'The task was cancelled')
        change(task, 'input_required', 'asks something')
        const answer = await call.request('elicitation/create', {
          mode: 'form',
          message: 'Go on?',
          requestedSchema: { type: 'object', properties: { go: { type: 'boolean' } } },
          _meta: { [RELATED]: { taskId, extra: 'kept' } },
        })
        change(task, 'completed', 'done')
        return { content: [text(`task ${taskId}: ${answer.action}`)], _meta: { [RELATED]: { taskId } } }
      },
      'tasks/cancel': ({ taskId }) => {
        const task = find(taskId)
        change(task, 'cancelled', 'on request')
        return { ...task }
      },
    },
  }
}
