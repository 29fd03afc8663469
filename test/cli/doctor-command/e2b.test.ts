import { e2b } from '../../backends/faults/e2b.ts'
import { runDoctor } from './run.ts'

runDoctor(e2b)
