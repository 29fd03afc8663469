import { Refusal } from './refusal.ts'

/** Loads a package that not every install has; one that is missing, or does not run here, is a `Refusal` that names it. */
export async function optionalPackage<T>(name: string, { what, load }: { what: string; load(): Promise<T> }): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const absent = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
    throw new Refusal(
      'unsupported',
      `${what} takes the package "${name}", which ${absent ? 'is not installed' : 'does not load here'}.`,
      `The operator can add it where Atelier is installed: npm install ${absent ? '' : '--include=optional '}${name}`,
    )
  }
}
