import { ensureBuilt } from '../../scripts/ensure.mjs'

/** Builds `dist` once before the first test, when the sources changed; a build named by `ATELIER_TEST_DIST` is taken as it is. */
export async function setup(): Promise<void> {
  if (process.env.ATELIER_TEST_DIST === undefined) await ensureBuilt(text => process.stderr.write(`${text}\n`))
}
