import { runStandIn } from '../shared/main.ts'
import { startDaytona } from './daytona.ts'

await runStandIn(startDaytona)
