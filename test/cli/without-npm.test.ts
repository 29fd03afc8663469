import { expect, it } from 'vitest'
import { withoutNpm } from '../../scripts/without-npm.mjs'

it('gives the environment that npm was started in', () => {
  const env = {
    HOME: '/home/u',
    EDITOR: 'nano',
    npm_config_registry: 'https://registry.example',
    npm_config_noproxy: '',
    npm_config_local_prefix: '/src/atelier',
    npm_lifecycle_event: 'start',
    npm_package_name: 'atelier',
    INIT_CWD: '/src/atelier',
    PATH: '/src/atelier/node_modules/.bin:/src/node_modules/.bin:/npm/lib/node-gyp-bin:/home/u/p/node_modules/.bin:/usr/bin',
  }
  expect(withoutNpm(env, '/src/atelier')).toEqual({
    HOME: '/home/u',
    EDITOR: 'nano',
    npm_config_registry: 'https://registry.example',
    PATH: '/home/u/p/node_modules/.bin:/usr/bin',
  })
})
