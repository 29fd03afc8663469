import { describe, expect, it } from 'vitest'
import { isQuietText } from '../../../src/gateway/commands/quiet-text.ts'
import { CASES } from './shell-cases.ts'

const state = { env: { PATH: '/bin' }, cwd: '/', restore: '', posix: false }
const quiet = (text: string) => isQuietText(text, state)

describe('a text that can change no state', () => {
  it.each([
    'echo hi',
    'ls -la | grep -v foo > out.txt 2>&1',
    'git add . && git commit -m "a message, with words" --author="A <a@b.c>"',
    'npm test; npm run build',
    "grep -rn 'some words' src/*.ts",
    './run.sh &',
    'make -j4 &> log',
    'cat << EOF\nplain words\nEOF',
  ])('%s', text => {
    expect(quiet(text)).toBe(true)
  })

  it.each([
    'cd x',
    'ls; cd x',
    'ls &&cd x',
    'true |cd x',
    'e"x"port A',
    "'export' A",
    'A=1',
    'A=1 ls',
    'ls --x=1 A=1',
    'export A',
    '. ./file',
    'source file',
    'eval ls',
    '$CMD',
    '`cat cmd`',
    'e\\xport A',
    '> file export A',
    '* A',
    'time export A',
    '! export A',
    'builtin cd x',
    'f() { cd x; }',
    '(( A++ ))',
    'exec {fd}> file',
    'echo x {fd}> file',
    'read A < file',
    'printf -v A x',
    'cat << EOF\n$(cd x)\nEOF\nunset A',
    'ls\tx\ncd x',
    '-n foo',
    '',
  ])('is not %s', text => {
    expect(quiet(text)).toBe(false)
  })

  it('is none where functions, start-up files or restored state may give words another meaning', () => {
    expect(isQuietText('ls', { ...state, env: { 'BASH_FUNC_ls%%': '() { cd /; }' } })).toBe(false)
    expect(isQuietText('ls', { ...state, env: { BASH_ENV: 'x' } })).toBe(false)
    expect(isQuietText('ls', state, { BASH_ENV: 'x' })).toBe(false)
    expect(isQuietText('ls', { ...state, restore: 'ls() { cd /; }' })).toBe(false)
    expect(isQuietText('ls', { ...state, posix: true })).toBe(false)
    expect(quiet(`ls ${'x'.repeat(5000)}`)).toBe(false)
  })

  it('is none of the texts that are known to change it', () => {
    const wrong = CASES.filter(({ text, cwd, A, pre }) => pre === undefined && (cwd !== '.' || A !== 'base') && quiet(text))
    expect(wrong.map(({ name }) => name)).toEqual([])
  })
})
