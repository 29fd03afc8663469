/** What this program's own error begins with; what Node says around it is of no interest. */
export const OWN_WORDS = 'atelier gateway: '

/** Exit code of a daemon that another start would not help. */
export const FINAL_EXIT = 78
