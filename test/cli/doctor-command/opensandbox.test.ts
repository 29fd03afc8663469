import { opensandbox } from '../../backends/faults/opensandbox.ts'
import { runDoctor } from './run.ts'

runDoctor(opensandbox)
