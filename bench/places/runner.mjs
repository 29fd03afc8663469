import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** For `node -e` inside a place: gives back `x`, and runs what else it is told, saying how many ms it took. On one line, for terminals. */
export const RUNNER = [
  `const {spawn}=require('child_process')`,
  `const say=value=>process.stdout.write(value+'\\n')`,
  `const run=(command,told)=>new Promise(over=>{const child=spawn('/bin/bash',['-c',command],{stdio:['ignore','pipe','pipe']})`,
  `let text='';child.stdout.on('data',part=>told&&(text+=part));child.stderr.resume()`,
  `child.once('close',()=>over(told&&say(JSON.stringify(text))))})`,
  `require('readline').createInterface({input:process.stdin}).on('line',async line=>{if(line==='x')return say('x')`,
  `const {command,count,told}=JSON.parse(line),begin=performance.now()`,
  `await Promise.all(Array.from({length:count},()=>run(command,told)));say(performance.now()-begin)})`,
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
    /** The outputs of `count` bare spawns at once, each brought out when its command is over. */
    results: (command, count) =>
      new Promise(resolve => {
        const outputs = []
        const take = line => {
          if (outputs.length < count) return outputs.push(JSON.parse(line))
          lines.off('line', take)
          resolve({ outputs })
        }
        lines.on('line', take)
        input.write(`${JSON.stringify({ command, count, told: true })}\n`)
      }),
    end,
  }
}
