import { opensandbox } from '../faults/opensandbox.ts'
import { runFaults } from '../faults/run.ts'

runFaults(opensandbox)
