import { kubernetes } from '../../backends/faults/kubernetes.ts'
import { runDoctor } from './run.ts'

// Most of a run there is waiting.
runDoctor(kubernetes, { atOnce: 4 })
