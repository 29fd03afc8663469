import { describe, expect, it } from 'vitest'
import { renderInstructions } from '../../src/workspace/instructions.ts'
import { FakeEnvironment } from './fakes.ts'

describe('instructions', () => {
  const { info } = new FakeEnvironment({ workdir: '/w/$&', root: '/r/{backend}' })

  it('name the place and every folder of ours', () => {
    const text = renderInstructions(info)
    expect(text).toContain('(docker)')
    expect(text).toContain('Its directory is /w/$&')
    for (const folder of ['data/', 'skills/', 'sessions/', '.atelier/', 'scratch/']) expect(text).toContain(folder)
    expect(text).not.toMatch(/\{(workdir|root)\}/)
  })

  it('keep braces that name nothing, and fill in once only', () => {
    expect(renderInstructions(info, 'a {b} {{workdir}} {} {root} {backend}{backend')).toBe(
      'a {b} {/w/$&} {} /r/{backend} docker{backend',
    )
  })
})
