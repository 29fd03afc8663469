/** An error answer with a code. */
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** One end of a JSON-RPC conversation. What a handler gets as its second argument belongs to one request. */
export class Peer {
  methods = {}
  #write
  #running = new Map()
  #waiting = new Map()
  #last = 0

  constructor(write) {
    this.#write = write
  }

  notify(method, params) {
    this.#write(params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params })
  }

  /** Asks the client; its error answer rejects. Ids are texts, so that nothing rests on their being numbers. */
  request(method, params, { id = `ask-${++this.#last}`, signal } = {}) {
    this.#write(params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params })
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      signal?.addEventListener('abort', () => {
        if (!this.#waiting.delete(id)) return
        this.notify('notifications/cancelled', { requestId: id, reason: 'no longer needed' })
        reject(new RpcError(-32000, 'cancelled by the server'))
      })
    })
  }

  receive(message) {
    if (message.method === undefined) this.#answered(message)
    else if (message.id === undefined) this.#notified(message)
    else void this.#asked(message)
  }

  #answered({ id, result, error }) {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new RpcError(error.code, error.message, error.data))
  }

  #notified({ method, params }) {
    if (method === 'notifications/cancelled') this.#running.get(params.requestId)?.abort(params.reason)
    else this.methods[method]?.(params ?? {}, this)
  }

  async #asked({ id, method, params = {} }) {
    const abort = new AbortController()
    this.#running.set(id, abort)
    const answer = await this.#result(method, params, this.#call(params, abort.signal))
    this.#running.delete(id)
    if (!abort.signal.aborted) this.#write({ jsonrpc: '2.0', id, ...answer })
  }

  async #result(method, params, call) {
    try {
      const handler = this.methods[method]
      if (handler === undefined) throw new RpcError(-32601, `Method not found: ${method}`)
      return { result: await handler(params, call) }
    } catch (error) {
      const { code = -32603, message, data } = error
      return { error: data === undefined ? { code, message } : { code, message, data } }
    }
  }

  #call(params, signal) {
    const progressToken = params._meta?.progressToken
    return {
      signal,
      notify: (method, given) => this.notify(method, given),
      request: (method, given, options) => this.request(method, given, options),
      progress: fields => {
        if (progressToken !== undefined) this.notify('notifications/progress', { progressToken, ...fields })
      },
    }
  }
}
