/** An environment as it was before `npm run`, with a PATH that leads to no program of the project in `root`. */
export function withoutNpm(env: NodeJS.ProcessEnv, root: string): NodeJS.ProcessEnv
