import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

interface Failure {
  name: string
  message: string
}

/** What one test file came to. */
interface FileSummary {
  file: string
  passed: number
  /** Failed tests and hooks, a file that does not load, and errors that nobody caught while it ran. */
  failures: Failure[]
  skips: { name: string; reason: string }[]
  /** Tests that passed only when tried again. */
  retried: string[]
}

/** Writes `{files: FileSummary[], unhandled: Failure[]}` of a run to `path`; `unhandled` holds the errors that belong to no file. */
export function summaryReporter(path: string): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[], unhandledErrors) {
      const files = modules.map(summaryOf)
      const unhandled: Failure[] = []
      for (const error of unhandledErrors) {
        const owner = files.find(({ file }) => file === error.VITEST_TEST_PATH)?.failures ?? unhandled
        owner.push(...failures(`${error.VITEST_TEST_NAME ?? 'an error that nobody caught'}`, [error]))
      }
      writeFileSync(path, JSON.stringify({ files, unhandled }))
    },
  }
}

function summaryOf(module: TestModule): FileSummary {
  const summary: FileSummary = {
    file: module.moduleId,
    passed: 0,
    failures: failures('the file', module.errors()),
    skips: [],
    retried: [],
  }
  for (const suite of module.children.allSuites()) summary.failures.push(...failures(suite.fullName, suite.errors()))
  for (const test of module.children.allTests()) {
    const result = test.result()
    if (test.diagnostic()?.flaky) summary.retried.push(test.fullName)
    if (result.state === 'passed') summary.passed += 1
    else if (result.state === 'failed') summary.failures.push(...failures(test.fullName, result.errors).slice(0, 1))
    else
      summary.skips.push({
        name: test.fullName,
        reason: (result.state === 'skipped' && result.note) || titleReason(test.fullName),
      })
  }
  return summary
}

function failures(name: string, errors: readonly SerializedError[]): Failure[] {
  return errors.map(error => ({ name, message: error.message ?? String(error) }))
}

/** A suite that is skipped as a whole has its reason in its title. */
function titleReason(title: string): string {
  return /\((?:skipped: )?(.+?)\)(?= >|$)/.exec(title)?.[1] ?? `no reason given: ${title}`
}
