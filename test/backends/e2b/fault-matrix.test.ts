import { e2b } from '../faults/e2b.ts'
import { runFaults } from '../faults/run.ts'

runFaults(e2b)
