// Bundles what clients start. `--out DIR` builds elsewhere, `--only NAME` one target, `--types` adds declarations.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const { values } = parseArgs({
  options: { out: { type: 'string', default: 'dist' }, only: { type: 'string' }, types: { type: 'boolean' } },
})
const out = resolve(values.out)
const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const wanted = name => values.only === undefined || values.only === name

/** Installed by those who use the backend, or brought by the package; loaded when first needed. */
const external = [
  'dockerode',
  'e2b',
  '@daytonaio/sdk',
  '@kubernetes/client-node',
  '@alibaba-group/opensandbox',
  '@vscode/ripgrep',
]
const requireShim = "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);"

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { __VERSION__: JSON.stringify(version) },
}

/** The SDK imports ajv at its start, for answers to elicitation, which is never validated here. */
const withoutAjv = {
  name: 'without-ajv',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ajv(-formats)?$/ }, ({ path }) => ({ path, namespace: 'without-ajv' }))
    onLoad({ filter: /.*/, namespace: 'without-ajv' }, () => ({
      contents: 'module.exports = function () { throw new Error("JSON Schema validation is not part of this bundle") }',
    }))
  },
}

/** zod brings its messages in fifty languages, a quarter of the bundle; ours are English and mostly our own. */
const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js'",
      resolveDir: dirname(path),
    }))
  },
}
const plugins = [withoutAjv, englishOnly]

/** An ES module loads all that it imports before it runs; so each of Node's modules waits until a part that uses it begins. */
const lazyNode = {
  name: 'lazy-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) => (kind === 'require-call' ? undefined : { path, namespace: 'lazy-node' }))
    onLoad({ filter: /.*/, namespace: 'lazy-node' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }))
  },
}

/** The tool list, made by running the tools' own schemas. */
async function toolList() {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-build-'))
  try {
    const outfile = join(folder, 'tools.mjs')
    await build({
      ...common,
      entryPoints: ['src/tools/schema.ts'],
      outfile,
      format: 'esm',
      banner: { js: requireShim },
      external,
    })
    const { toolDeclarations } = await import(pathToFileURL(outfile).href)
    return JSON.stringify(toolDeclarations())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const bundles = {
  gateway: () => ({
    entryPoints: ['src/gateway/main.ts'],
    outfile: `${out}/gateway.mjs`,
    format: 'esm',
    target: 'node18',
    plugins: [lazyNode],
    banner: { js: requireShim },
  }),
  reader: () => ({
    entryPoints: ['src/workspace/skills/reader/reader-main.ts'],
    outfile: `${out}/reader.mjs`,
    format: 'esm',
    banner: { js: requireShim },
  }),
  terminal: () => ({
    entryPoints: ['src/workspace/terminal/screen-main.ts'],
    outfile: `${out}/terminal.mjs`,
    format: 'esm',
    banner: { js: requireShim },
  }),
  'file-reader': () => ({
    entryPoints: ['src/workspace/reading/process/reader-main.ts'],
    outfile: `${out}/file-reader.mjs`,
    format: 'esm',
    external: ['sharp', '@hyzyla/pdfium'],
    banner: { js: requireShim },
  }),
  loader: tools => ({
    entryPoints: ['src/loader.cjs'],
    outfile: `${out}/loader.cjs`,
    format: 'cjs',
    external: ['./server.cjs'],
    define: { ...common.define, __TOOLS__: tools },
  }),
  server: tools => ({
    entryPoints: ['src/cli.ts'],
    outfile: `${out}/server.cjs`,
    format: 'cjs',
    external,
    plugins,
    define: { ...common.define, __TOOLS__: tools, 'import.meta.url': '__moduleUrl' },
    banner: { js: "const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  }),
  index: tools => ({
    entryPoints: ['src/index.ts'],
    outfile: `${out}/index.mjs`,
    format: 'esm',
    external,
    plugins,
    define: { ...common.define, __TOOLS__: tools },
    banner: { js: requireShim },
  }),
}

function declarations() {
  const types = join(out, 'types')
  rmSync(types, { recursive: true, force: true })
  const tsc = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.types.json', '--outDir', types],
    {
      cwd: root,
      stdio: 'inherit',
    },
  )
  process.exitCode = tsc.status ?? 1
}

const names = Object.keys(bundles).filter(wanted)
mkdirSync(out, { recursive: true })
const tools =
  wanted('tools') || names.some(name => !['gateway', 'reader', 'terminal', 'file-reader'].includes(name))
    ? await toolList()
    : '[]'
if (wanted('tools')) writeFileSync(join(out, 'tools.json'), `${tools}\n`)
await Promise.all(names.map(name => build({ ...common, ...bundles[name](tools) })))
if (names.includes('reader')) cpSync(join(root, 'skills'), join(out, 'skills'), { recursive: true })
if (names.includes('loader')) chmodSync(join(out, 'loader.cjs'), 0o755)
if (values.types) declarations()
