/** Text of an answer: the body, then what is to be said about it, a bracketed line each; what is `undefined` is left out. */
export function compose(body: string, remarks: readonly (string | undefined)[]): string {
  const said = remarks.filter(remark => remark !== undefined && remark !== '').map(remark => `[${remark}]`)
  return [...(body === '' ? [] : [body]), ...said].join('\n')
}

/** The fields that have a value. */
export function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
