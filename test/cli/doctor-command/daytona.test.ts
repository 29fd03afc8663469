import { daytona } from '../../backends/faults/daytona.ts'
import { runDoctor } from './run.ts'

runDoctor(daytona)
