/** A signal as the client's requests take it. A request that is given up changes nothing of what the engine has begun. */
export function abortable(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal }
}
