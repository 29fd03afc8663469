import { kubernetes } from '../faults/kubernetes.ts'
import { runFaults } from '../faults/run.ts'

runFaults(kubernetes)
