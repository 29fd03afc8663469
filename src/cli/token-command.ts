import { isScopeId } from '../http/scope-headers.ts'
import { hashToken, newToken, readUsers, writeUsers } from '../http/tokens.ts'
import { WorkspaceError } from '../lib/errors.ts'

/** Makes, ends or lists tokens in a users file; gives what to print. A token is shown once and kept as a hash. */
export async function manageTokens(action: 'add' | 'list' | 'remove', file: string, user = ''): Promise<string> {
  const users = await readUsers(file)
  if (action === 'list')
    return Object.keys(users)
      .sort()
      .map(name => `${name}\n`)
      .join('')
  if (!isScopeId(user)) {
    throw new WorkspaceError('invalid_argument', `"${user}" is no user name.`, {
      hint: 'Use up to 128 letters, digits and . _ @ : + = -, starting with a letter, a digit or _.',
    })
  }
  if (action === 'add') {
    const token = newToken()
    await writeUsers(file, { ...users, [user]: hashToken(token) })
    return `${token}\n`
  }
  if (!Object.hasOwn(users, user)) throw new WorkspaceError('not_found', `There is no user "${user}" in ${file}.`)
  const { [user]: _, ...rest } = users
  await writeUsers(file, rest)
  return `The token of ${user} has ended.\n`
}
