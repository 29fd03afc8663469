import { daytona } from '../faults/daytona.ts'
import { runFaults } from '../faults/run.ts'

runFaults(daytona)
