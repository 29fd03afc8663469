import type { Command, CommanderError } from 'commander'
import { closest, distance } from 'fastest-levenshtein'
import { everyCommand } from './program.ts'

/** What is wrong with a command line, in one sentence, with the nearest valid word. */
export function explainUsage(error: CommanderError, program: Command, argv: readonly string[]): string {
  const message = error.message.replace(/^error: /, '').replace(/\.$/, '')
  const command = commandOf(program, argv)
  const help = `atelier ${pathOf(command)} --help`
  if (error.code === 'commander.help') {
    return `${pathOf(command)} needs one of ${namesOf(command).join(', ')}. ${help} shows how.`
  }
  if (error.code === 'commander.unknownOption') {
    const given = /'(.+?)'/.exec(message)?.[1]?.split('=')[0] ?? ''
    return `${message}. The nearest one is ${nearestFlag(given, command, program)}; ${help} lists all.`
  }
  const word = argv[0] ?? ''
  const mistyped = error.code === 'commander.unknownCommand' || error.code === 'commander.excessArguments'
  if (mistyped && command.commands.length > 0) {
    const given = argv.slice(1).find(one => !one.startsWith('-')) ?? ''
    return `${message}. The nearest one is ${closest(given, namesOf(command))}; ${help} lists all.`
  }
  if (mistyped && !namesOf(program).includes(word)) {
    return `${message}. The command nearest to "${word}" is ${closest(word, namesOf(program))}; atelier --help lists all.`
  }
  return `${message}. ${help} shows how.`
}

/** A line about the first word, where it is a bare one that was taken for a directory: it may have been meant as a command. */
export function commandHint(program: Command, word: string | undefined): string {
  const names = namesOf(program)
  if (word === undefined || !/^\w[\w-]*$/.test(word) || names.includes(word)) return ''
  const best = closest(word, names)
  return distance(best, word) <= 2
    ? `\nDid you mean the command ${best}?`
    : `\nThere is no command "${word}" either; atelier --help lists all.`
}

const namesOf = (command: Command): string[] => command.commands.map(one => one.name())
const flagsOf = (command: Command): string[] => command.options.flatMap(option => (option.long ? [option.long] : []))

/** One of the command's own flags, unless another command has one that is nearer. */
function nearestFlag(given: string, command: Command, program: Command): string {
  const own = closest(given, flagsOf(command))
  for (const other of everyCommand(program)) {
    const best = closest(given, flagsOf(other))
    if (distance(given, best) < distance(given, own)) return `${best} of atelier ${pathOf(other)}`
  }
  return own
}

function commandOf(program: Command, argv: readonly string[]): Command {
  let command = program
  for (const word of argv) {
    const next = command.commands.find(one => one.name() === word)
    if (next === undefined) break
    command = next
  }
  return command === program ? (program.commands.find(one => one.name() === 'stdio') ?? program) : command
}

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name()
