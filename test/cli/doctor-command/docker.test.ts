import { docker } from '../../backends/faults/docker.ts'
import { runDoctor } from './run.ts'

runDoctor(docker)
