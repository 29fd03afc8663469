import { echo, http, parallel, ping, sessions } from './rows-calls.mjs'
import { grep, output, read } from './rows-data.mjs'
import { dockerFiles, dockerOutput, dockerParallel } from './rows-docker.mjs'
import { many, nested } from './rows-nested.mjs'
import { offload } from './rows-offload.mjs'
import { places } from './rows-places.mjs'
import { reading } from './rows-reading.mjs'
import { gateway, start } from './rows-start.mjs'

/** Rows by the name under which they can be asked for. */
export const ROWS = {
  ...{ start, gateway, http, echo, parallel, ping, read, grep, output, offload, reading, nested, many, sessions },
  'docker-parallel': dockerParallel,
  'docker-files': dockerFiles,
  'docker-output': dockerOutput,
  places,
}
