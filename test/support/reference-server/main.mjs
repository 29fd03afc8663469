// An MCP server on stdio that uses every feature of the protocol, with Node alone. It answers the same every time: no clock, no chance.
import { onLines } from './lines.mjs'
import { createMethods } from './methods.mjs'
import { Peer } from './peer.mjs'

const peer = new Peer(message => process.stdout.write(`${JSON.stringify(message)}\n`))
peer.methods = createMethods(peer)

onLines(
  process.stdin,
  line => {
    if (line.trim() !== '') peer.receive(JSON.parse(line))
  },
  () => process.exit(0),
)
