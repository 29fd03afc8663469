import type { Shown } from './transcript.ts'

const HEAD = `# Answers

What agents read: typical calls and failing ones, each with its whole answer. \`test/requirements/answers.test.ts\` makes these calls on a server
and compares; with \`UPDATE=1\` it writes this file. Paths, ids, times, and how long a command took, are replaced by fixed ones. The soft limit is
1 s here instead of 45 s, and 600 characters of output are shown instead of 30 000. What stands in parentheses at the end of an answer is
content beside its text. Every call under "Calls that fail" is answered with \`isError\`, no other is.`

/** The text of the document. */
export function documentOf({ typical, failing }: { typical: readonly Shown[]; failing: readonly Shown[] }): string {
  return [HEAD, '## Typical calls', ...typical.map(section), '## Calls that fail', ...failing.map(section), ''].join('\n\n')
}

function section({ says, call, user, answer }: Shown): string {
  const fence = '`'.repeat(Math.max(3, longestRun(answer) + 1))
  return [
    `### ${says}`,
    `\`\`\`js\n${call}\n\`\`\``,
    ...(user === undefined ? [] : [`The user is asked first, and their client answers: ${user}.`]),
    `${fence}text\n${answer}\n${fence}`,
  ].join('\n\n')
}

/** Length of the longest run of backticks. */
function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
}
