import { defineConfig } from 'vitest/config'
import { summaryReporter } from './test/support/summary-reporter.ts'

const summary = process.env.ATELIER_TEST_SUMMARY

/** Tests of backends that need an engine, a cluster or a stand-in: left out where only `local` is asked for. */
const elsewhere =
  process.env.ATELIER_TEST_BACKENDS === 'local'
    ? ['test/{backends,cli/doctor-command}/{docker,kubernetes,e2b,daytona,opensandbox}{/**,.test.ts}', 'test/stand-ins/**']
    : []

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // A busy build machine may miss a time limit; a test that needed a second try is listed as such.
    retry: process.env.CI === undefined ? 0 : 2,
    reporters: summary === undefined ? ['default'] : ['default', summaryReporter(summary)],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/requirements/**', ...elsewhere],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'requirements',
          include: ['test/requirements/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
