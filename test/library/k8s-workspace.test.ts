import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { K8sWorkspace, type K8sWorkspaceOptions } from '../../src/library/k8s-workspace.ts'
import { IMAGE, MISSING, onCluster } from '../backends/kubernetes/support.ts'
import { type ClusterSpace, createClusterSpace } from '../support/cluster.ts'
import { createPlace } from './place.ts'

describe.skipIf(MISSING !== '')(onCluster('K8sWorkspace'), () => {
  let place: ReturnType<typeof createPlace>
  let space: ClusterSpace
  const make = (options: K8sWorkspaceOptions = {}) =>
    new K8sWorkspace(options, () => ({ ...place.read(), kubernetes: { kubeconfig: space.kubeconfig, image: IMAGE } }))

  beforeAll(() => {
    place = createPlace()
    space = createClusterSpace(join(place.base, 'kubeconfig'))
  })
  afterAll(() => {
    space?.remove()
    place?.remove()
  })

  test('the same tools as everywhere, with the files kept between two uses', async () => {
    {
      const kubernetes = { resources: { limits: { memory: '512Mi' } } }
      await using workspace = await make({ name: 'tools', env: { EXTRA: 'more' }, kubernetes }).initialize()
      expect(workspace.workdir).toBe('/workspace')
      const tools = await workspace.listTools()
      const call = async (name: string, args: Record<string, unknown>) =>
        (await tools.find(each => each.name === name)?.call(args))?.text ?? ''
      expect(await call('Bash', { command: 'echo "$EXTRA $FROM_HOST."; cd /usr' })).toContain('more .')
      expect(await call('Bash', { command: 'pwd' })).toContain('/usr')
      await call('Write', { file_path: '/workspace/notes.txt', content: 'one\ntwo\n' })
      expect(await call('Read', { file_path: '/workspace/notes.txt' })).toContain('two')
      expect(await call('Grep', { pattern: 'two', path: '/workspace', output_mode: 'content' })).toContain('two')
      const status = await call('workspace_status', {})
      expect(status).toContain(`kubernetes, image ${IMAGE}`)
      expect(status).toMatch(/cpu: \d+ %[\s\S]*memory: .* of 512[\s\S]*disk: .* free/)
    }
    expect(space.left()).toHaveLength(1)
    await using again = await make({ name: 'tools' }).initialize()
    const { output } = await again.shell.run({ session: 's', command: 'cat notes.txt' })
    expect(output.head).toBe('one\ntwo\n')
    await again.destroy()
    expect(space.left()).toEqual([])
  })
})
