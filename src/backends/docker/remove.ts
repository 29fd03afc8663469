import { withSignal } from '../../lib/deadline.ts'
import { WorkspaceError } from '../../lib/errors.ts'
import type { CallOptions } from '../backend.ts'
import { removeTree } from '../host/remove-tree.ts'
import { abortable } from './abortable.ts'
import { containerName, type DockerContext } from './context.ts'
import { giveBackFiles } from './helper.ts'
import { workspaceFolder, workspacesFolder } from './owner-file.ts'
import { volumeName } from './place.ts'
import type { DockerRecord } from './record.ts'
import { ignore, removeContainer } from './remove-container.ts'

/** Removes a workspace with its files. Refuses (`permission_denied`) a directory that the user already had. */
export async function removeWorkspace(context: DockerContext, record: DockerRecord, call: CallOptions = {}): Promise<void> {
  const { docker } = context.engine
  if (record.keep === 'own') {
    throw new WorkspaceError('permission_denied', `${record.directory} is not deleted: it was there before Atelier.`, {
      hint: "workspace_reset empties Atelier's own folder for it; remove the directory itself by hand.",
    })
  }
  const name = containerName(context, record.id)
  await removeContainer(docker, name, call)
  if (record.keep === 'volume') {
    const volume = volumeName(record.id)
    await ignore([404], docker.getVolume(volume).remove(abortable(call.signal)), `Volume ${volume}`)
  }
  if (record.keep !== 'bound') return
  await withSignal(giveBackFiles(context, record), call.signal)
  await removeTree(workspaceFolder(context.dataDir, record.id), workspacesFolder(context.dataDir))
}
