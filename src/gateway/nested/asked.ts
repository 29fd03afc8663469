import type { NestedId } from '../protocol-nested.ts'

/** What a server has asked of several parties and not been told: only the one that was asked may answer, and once. */
export class Asked<Party> {
  readonly #parties = new Map<unknown, Party>()

  get size(): number {
    return this.#parties.size
  }

  add(id: NestedId, party: Party): void {
    this.#parties.set(id, party)
  }

  /** Whether the answer of this party is the awaited one; from then on it is not. */
  answered(id: unknown, party: Party): boolean {
    return this.#parties.get(id) === party && this.#parties.delete(id)
  }

  /** The server does not want the answer any more; gives the party that was asked. */
  withdraw(id: unknown): Party | undefined {
    const party = this.#parties.get(id)
    this.#parties.delete(id)
    return party
  }

  /** Ids of what this party still owes. */
  take(party: Party): NestedId[] {
    const ids = [...this.#parties].filter(([, each]) => each === party).map(([id]) => id as NestedId)
    for (const id of ids) this.#parties.delete(id)
    return ids
  }

  clear(): void {
    this.#parties.clear()
  }
}
