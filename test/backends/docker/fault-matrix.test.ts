import { docker } from '../faults/docker.ts'
import { runFaults } from '../faults/run.ts'

runFaults(docker)
