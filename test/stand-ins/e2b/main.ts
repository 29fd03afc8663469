import { runStandIn } from '../shared/main.ts'
import { startE2b } from './e2b.ts'

await runStandIn(startE2b)
