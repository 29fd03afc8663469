declare const __VERSION__: string

/** Version of this build; `dev` when run from source. */
export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : 'dev'
