import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** What one test file came to. */
interface FileSummary {
  file: string
  passed: number
  failed: number
  skips: { name: string; reason: string }[]
  /** Tests that passed only when tried again. */
  retried: string[]
}

/** Writes `{files: FileSummary[], unhandled}` of a run to `path`; a file that fails to load, and a failed hook, count as failures. */
export function summaryReporter(path: string): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[], unhandledErrors) {
      writeFileSync(path, JSON.stringify({ files: modules.map(summaryOf), unhandled: unhandledErrors.length }))
    },
  }
}

function summaryOf(module: TestModule): FileSummary {
  const summary: FileSummary = { file: module.moduleId, passed: 0, failed: module.errors().length, skips: [], retried: [] }
  for (const suite of module.children.allSuites()) summary.failed += suite.errors().length
  for (const test of module.children.allTests()) {
    const result = test.result()
    if (test.diagnostic()?.flaky) summary.retried.push(test.fullName)
    if (result.state === 'passed') summary.passed += 1
    else if (result.state === 'failed') summary.failed += 1
    else summary.skips.push({ name: test.fullName, reason: (result.state === 'skipped' && result.note) || 'no reason given' })
  }
  return summary
}
