import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where this system keeps data of a user's programs, with `atelier` at the end. */
export function defaultDataDir(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const home = env.HOME || homedir()
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'atelier')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'atelier')
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'atelier')
}
