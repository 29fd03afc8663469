import type { Manager } from '../manager/manager.ts'

/** A view of a manager whose default workspace is the one with this id; all else is as in the manager itself. */
export function pinnedManager(manager: Manager, id: string): Manager {
  return {
    limitsOn: backend => manager.limitsOn!(backend),
    acquire: (scope, request = {}) => manager.acquire(scope, { ...request, ref: request.ref || id }),
    defaultId: async () => id,
    create: (scope, request, options) => manager.create(scope, request, options),
    list: (scope, options) => manager.list(scope, options),
    find: (scope, ref, options) => manager.find(scope, ref || id, options),
    opened: wanted => manager.opened(wanted),
    closed: async wanted => manager.closed?.(wanted),
    close: (scope, ref) => manager.close(scope, ref || id),
    destroy: (scope, ref, options) => manager.destroy(scope, ref || id, options),
    [Symbol.asyncDispose]: () => manager[Symbol.asyncDispose](),
  }
}
