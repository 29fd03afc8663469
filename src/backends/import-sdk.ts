import { WorkspaceError } from '../lib/errors.ts'

/** Lines of the packages that are known to work; a later one may need a newer Node, or speak otherwise. */
const VERSIONS: Readonly<Record<string, string>> = {
  dockerode: '5',
  e2b: '2',
  '@daytonaio/sdk': '0.218',
  '@kubernetes/client-node': '1',
  '@alibaba-group/opensandbox': '0.1',
}

/**
 * Loads a backend's SDK at its first use. A package that is not installed becomes `unsupported` with the command that
 * installs it; an error inside the package is passed on as it is.
 */
export async function importSdk<T>(backend: string, name: string, load: () => Promise<T> = () => import(name)): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    if (!missing || !message.includes(`'${name}'`)) throw error
    throw new WorkspaceError('unsupported', `Backend ${backend} needs the package "${name}", which is not installed.`, {
      hint: `Run npm install ${name}${name in VERSIONS ? `@${VERSIONS[name]}` : ''} where Atelier is installed, then start Atelier again.`,
      cause: error,
    })
  }
}
