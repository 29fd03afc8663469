import { describe, expect, it } from 'vitest'
import { encodeKeys, keyNames, needScreen } from '../../../src/workspace/terminal/keys.ts'

const sent = (keys: string, applicationCursor = false) => encodeKeys(keyNames(keys), { applicationCursor })

describe('keys', () => {
  it.each([
    ['enter', '\r'],
    ['Return', '\r'],
    ['tab', '\t'],
    ['shift-tab', '\x1b[Z'],
    ['esc', '\x1b'],
    ['Escape', '\x1b'],
    ['space', ' '],
    ['backspace', '\x7f'],
    ['delete', '\x1b[3~'],
    ['page-up', '\x1b[5~'],
    ['PageDown', '\x1b[6~'],
    ['page_down', '\x1b[6~'],
    ['f1', '\x1bOP'],
    ['F5', '\x1b[15~'],
    ['f12', '\x1b[24~'],
    ['ctrl-c', '\x03'],
    ['Ctrl-C', '\x03'],
    ['C-c', '\x03'],
    ['ctrl-d', '\x04'],
    ['ctrl-z', '\x1a'],
    ['ctrl-[', '\x1b'],
    ['ctrl-\\', '\x1c'],
    ['ctrl-space', '\0'],
    ['ctrl-/', '\x1f'],
    ['ctrl-_', '\x1f'],
    ['ctrl-6', '\x1e'],
    ['ctrl-backspace', '\b'],
    // No codes of their own: as the plain key.
    ['ctrl-enter', '\r'],
    ['ctrl-tab', '\t'],
    ['ctrl-shift-tab', '\x1b[Z'],
    ['ctrl-esc', '\x1b'],
    ['ctrl-alt-enter', '\x1b\r'],
    ['ctrl-.', '.'],
    ['ctrl-1', '1'],
    ['alt-b', '\x1bb'],
    ['alt-B', '\x1bb'],
    ['alt-enter', '\x1b\r'],
    ['ctrl-alt-x', '\x1b\x18'],
    ['shift-a', 'A'],
    ['ctrl-left', '\x1b[1;5D'],
    ['shift-up', '\x1b[1;2A'],
    ['ctrl-shift-end', '\x1b[1;6F'],
    ['alt-delete', '\x1b[3;3~'],
    ['shift-f3', '\x1b[1;2R'],
    ['q', 'q'],
    ['Q', 'Q'],
    ['é', 'é'],
    ['down down enter', '\x1b[B\x1b[B\r'],
    ['esc : w q enter', '\x1b:wq\r'],
  ])('%s', (keys, expected) => expect(sent(keys)).toBe(expected))

  it('that move the cursor are what the program asked for', () => {
    const keys = 'up down right left home end'
    expect(sent(keys)).toBe('\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F')
    expect(sent(keys, true)).toBe('\x1bOA\x1bOB\x1bOC\x1bOD\x1bOH\x1bOF')
    expect(sent('ctrl-up page-up', true)).toBe('\x1b[1;5A\x1b[5~')
    expect(needScreen(['enter', 'UP'])).toBe(true)
    expect(needScreen(['enter', 'page-up', 'ctrl-c'])).toBe(false)
  })

  it('that do not exist are refused, with the nearest one', () => {
    expect(() => sent('entr')).toThrow('There is no key "entr". Did you mean enter?')
    for (const name of ['hello', 'f13', 'ctrl-foo', 'hyper-x']) expect(() => sent(name)).toThrow('There is no key')
  })
})
