import { delimiter, dirname, join } from 'node:path'

const OWN = /^(INIT_CWD|NODE|COLOR|npm_command|npm_execpath|npm_node_execpath|npm_lifecycle_.*|npm_package_.*)$/
const SETTING =
  /^npm_config_(user_agent|local_prefix|global_prefix|npm_version|node_gyp|init_module|cache|prefix|userconfig|globalconfig)$/

/**
 * An environment as it was before `npm run`: without npm's variables, and with a PATH that leads to no program of the project in
 * `root`. Settings of npm that the person made stay, save those that npm itself sets for every script.
 */
export function withoutNpm(env, root) {
  const kept = Object.entries(env).filter(
    ([name, value]) => !OWN.test(name) && !SETTING.test(name) && !(name.startsWith('npm_config_') && value === ''),
  )
  const result = Object.fromEntries(kept)
  if (result.PATH !== undefined) {
    const added = new Set(above(root).map(folder => join(folder, 'node_modules/.bin')))
    const folders = result.PATH.split(delimiter)
    result.PATH = folders.filter(folder => !added.has(folder) && !folder.endsWith('node-gyp-bin')).join(delimiter)
  }
  return result
}

function above(folder) {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...above(parent)]
}
