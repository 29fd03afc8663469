import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** For `node -e` inside a place: gives back `x`, and runs what else it is told, saying how many ms it took. On one line, for terminals. */
export const RUNNER = [
  `const {spawn}=require('child_process')`,
  `const run=command=>new Promise(over=>{const child=spawn('/bin/bash',['-c',command],{stdio:['ignore','pipe','pipe']})`,
  `child.stdout.resume();child.stderr.resume();child.once('close',over)})`,
  `const say=value=>process.stdout.write(value+'\\n')`,
  `require('readline').createInterface({input:process.stdin}).on('line',async line=>{if(line==='x')return say('x')`,
  `const {command,count}=JSON.parse(line),begin=performance.now()`,
  `await Promise.all(Array.from({length:count},()=>run(command)));say(performance.now()-begin)})`,
].join(';')

/** What a place does without us: `RUNNER` over a stream to it. */
export function askRunner(input, output, end) {
  const lines = createInterface({ input: output })
  const ask = async line => {
    const answer = once(lines, 'line')
    input.write(`${line}\n`)
    return (await answer)[0]
  }
  return {
    roundTrip: () => ask('x'),
    /** Time in ms of `count` bare spawns at once. */
    spawn: async (command, count = 1) => Number(await ask(JSON.stringify({ command, count }))),
    end,
  }
}
