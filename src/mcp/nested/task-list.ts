import { isObject } from '../shape.ts'
import type { NestedLink } from './nested-link.ts'
import type { Origins } from './routes.ts'

/** Pages that are followed of one server: one that never ends must not hold up the rest. */
const MAX_PAGES = 100

/** `tasks/list` of all running servers that have tasks, one after the other. */
export async function taskList(link: NestedLink | undefined, origins: Origins): Promise<{ tasks: unknown[] }> {
  const servers = link?.running('tasks') ?? []
  const parts = await Promise.all(servers.map(server => tasksOf(link as NestedLink, server, origins)))
  return { tasks: parts.flat() }
}

async function tasksOf(link: NestedLink, server: string, origins: Origins): Promise<unknown[]> {
  const tasks: unknown[] = []
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result } = await link.ask(server, 'tasks/list', cursor === undefined ? {} : { cursor })
    if (!isObject(result) || !Array.isArray(result.tasks)) break
    tasks.push(...result.tasks)
    cursor = result.nextCursor
    if (cursor === undefined) break
  }
  for (const task of tasks) if (isObject(task)) origins.learn(link, task.taskId, server)
  return tasks
}
