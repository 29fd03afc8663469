import { setTimeout as sleep } from 'node:timers/promises'
import { familyOf, groupMembers, isSameProcess, markedProcesses, type SeenProcess, signalAll } from './process-tree.ts'

/** Between SIGTERM and SIGKILL, in ms. */
const GRACE_MS = 300
/** After SIGKILL nothing is waited for longer than this: what is stuck in the kernel can't be hurried. */
const GIVE_UP_MS = 2000
/** A group that grows beyond this, and to twice its size, while it is asked to end is a storm of forks. */
const STORM = 200

/** A run's processes: the group that it started as, and the mark that all of them carry. */
export interface Tree {
  group: number | undefined
  mark: string
  /** The group is a terminal's holder, which ends with what it holds: nothing but SIGKILL is sent to it. */
  holder?: boolean
}

/** Finds marked processes of many runs with one look at /proc for all that ask at the same time. */
export class MarkedProcesses {
  #scan: Promise<Map<string, number[]>> | undefined

  /** Live processes that carry the mark, from a look that began after the call. */
  async of(mark: string): Promise<number[]> {
    return (await this.all()).get(mark) ?? []
  }

  all(): Promise<Map<string, number[]>> {
    this.#scan ??= new Promise(resolve => {
      setImmediate(() => {
        this.#scan = undefined
        resolve(markedProcesses())
      })
    })
    return this.#scan
  }
}

/** Processes of a run that are alive. */
export async function liveProcesses(tree: Tree, marked: MarkedProcesses): Promise<number[]> {
  return familyOf(tree.group, await marked.of(tree.mark)).map(({ pid }) => pid)
}

/** Sends a signal to all of a run, once to each process. */
export async function signalTree(tree: Tree, marked: MarkedProcesses, signal: NodeJS.Signals): Promise<void> {
  const family = new Family(tree, marked)
  await family.look()
  family.signal(signal)
}

/** Ends all of a run: SIGTERM, then SIGKILL. Gives what still lives when it resolves: processes that can't be killed. */
export async function endTree(tree: Tree, marked: MarkedProcesses): Promise<number[]> {
  const start = performance.now()
  const family = new Family(tree, marked)
  const first = await family.look()
  family.signal('SIGTERM')
  family.signal('SIGCONT')
  for (let wait = 10; performance.now() - start < GRACE_MS; wait = Math.min(wait * 2, 80)) {
    await sleep(wait)
    const members = tree.group === undefined ? [] : groupMembers(tree.group)
    // What only multiplies when it is asked to end is asked no longer.
    if (members.length > Math.max(STORM, 2 * first.length)) break
    if (members.length === 0 && (await family.look()).length === 0) return []
  }
  for (;;) {
    family.signal('SIGKILL')
    const left = await family.look()
    if (left.length === 0 || performance.now() - start > GRACE_MS + GIVE_UP_MS) return left
    await sleep(10)
  }
}

/** Everybody who was ever seen in a run's tree: a child stays in it when its parent ends. */
class Family {
  readonly #tree: Tree
  readonly #marked: MarkedProcesses
  #members: SeenProcess[] = []

  constructor(tree: Tree, marked: MarkedProcesses) {
    this.#tree = tree
    this.#marked = marked
  }

  /** Looks again; gives who lives. */
  async look(): Promise<number[]> {
    const { group, mark } = this.#tree
    const marked = await this.#marked.of(mark)
    const known = this.#living().map(({ pid }) => pid)
    this.#members = familyOf(group, [...new Set([...known, ...marked])])
    return this.#members.map(({ pid }) => pid)
  }

  signal(signal: NodeJS.Signals): void {
    const others = this.#living().filter(({ inGroup }) => !inGroup)
    signalAll(
      this.#tree.holder && signal !== 'SIGKILL' ? undefined : this.#tree.group,
      others.map(({ pid }) => pid),
      signal,
    )
  }

  #living(): SeenProcess[] {
    return this.#members.filter(({ pid, start }) => start === undefined || isSameProcess(pid, start))
  }
}
