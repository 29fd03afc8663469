import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { DIST } from './clients.mjs'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

/** The host's client of a gateway on its own: the layer below every workspace, which the package does not export. */
export async function openLink(place) {
  const outfile = join(place.root, 'link.mjs')
  await build({
    entryPoints: [join(SOURCES, 'link/connect.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
  })
  const { connectGateway } = await import(pathToFileURL(outfile).href)
  const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }
  const socket = join(place.env.XDG_RUNTIME_DIR, 'g', 's')
  const environment = { info: { id: 'bench', workdir: place.project, root: place.env.XDG_DATA_HOME, socket, backend: 'local' } }
  const link = connectGateway(environment, {
    ...{ owner: 'bench', env: place.env, graceMs: 1_000, gatewayIdleMs: 60_000, jobMaxLifeMs: 1e6, logMaxBytes: 1e6 },
    ...{ reconnectMs: 5_000, logger: quiet, gatewayScript: join(DIST, 'gateway.mjs') },
  })
  await link.opened()
  return link
}
