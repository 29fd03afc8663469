import type { FaultPlace, FaultWorld } from '../../backends/faults/place.ts'
import { createWorld, type World } from '../../support/world.ts'

/** A service that misbehaves, and a host that asks the doctor about it. */
export interface Ward extends FaultWorld {
  name: FaultPlace['name']
  host: World
}

/** Several services of a backend, each for one user at a time. */
export class Wards implements AsyncDisposable {
  readonly #place: FaultPlace
  readonly #count: number
  readonly #all: Ward[] = []
  readonly #free: Ward[] = []
  readonly #waiting: ((ward: Ward) => void)[] = []

  constructor(place: FaultPlace, count: number) {
    this.#place = place
    this.#count = count
  }

  async open(): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#count }, async () => {
        const ward = Object.assign(await this.#place.start(), { name: this.#place.name, host: createWorld() })
        this.#all.push(ward)
        this.#free.push(ward)
      }),
    )
  }

  /** Runs `visit` with one that nobody else has, and clears it after that. */
  async use<T>(visit: (ward: Ward) => Promise<T>): Promise<T> {
    const ward = this.#free.pop() ?? (await new Promise<Ward>(resolve => this.#waiting.push(resolve)))
    try {
      return await visit(ward)
    } finally {
      ward.faults.clear()
      await ward.clear()
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(ward)
      else next(ward)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const ward of this.#all) {
      await ward.remove()
      await ward.host.dispose()
    }
  }
}
