import type { NestedExitedNews, NestedMessageNews } from '../../gateway/protocol.ts'
import type { GatewayNews } from '../gateway-news.ts'
import type { NestedServer } from './nested-server.ts'

/** News that nobody could place yet is kept up to this many. */
const MAX_EARLY = 1000

type News = { kind: 'message'; news: NestedMessageNews } | { kind: 'exited'; news: NestedExitedNews }

/** Brings the gateway's news to the servers that they are about; those that come before the answer of a start wait for it. */
export class NewsDesk {
  readonly #servers: () => NestedServer[]
  /** Servers that are not declared yet. */
  readonly #extra = new Set<NestedServer>()
  readonly #stop: () => void
  #early: News[] = []

  constructor(news: GatewayNews, servers: () => NestedServer[]) {
    this.#servers = servers
    this.#stop = news.listen({
      notification: (name, params) => {
        if (name === 'nested.message') this.#take({ kind: 'message', news: params as NestedMessageNews })
        else if (name === 'nested.exited') this.#take({ kind: 'exited', news: params as NestedExitedNews })
      },
      lost: () => {
        this.#early = []
        for (const server of this.#all()) server.lost()
      },
    })
  }

  add(server: NestedServer): void {
    this.#extra.add(server)
  }

  delete(server: NestedServer): void {
    this.#extra.delete(server)
  }

  /** A server may have begun: what waited is brought. */
  flush(): void {
    const early = this.#early
    this.#early = []
    for (const news of early) this.#take(news)
  }

  dispose(): void {
    this.#stop()
  }

  #take(news: News): void {
    const server = this.#all().find(({ instance }) => instance === news.news.server)
    if (server === undefined) {
      this.#early.push(news)
      if (this.#early.length > MAX_EARLY) this.#early.shift()
    } else if (news.kind === 'message') server.receive(news.news)
    else server.exited(news.news)
  }

  #all(): NestedServer[] {
    return [...this.#servers(), ...this.#extra]
  }
}
