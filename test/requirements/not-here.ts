const WINDOWS = 'Windows runs under WSL only.'

/** Known reports that have no test, each with the reason: nothing is left out silently. */
export const NOT_HERE: readonly { source: string; says: string; reason: string }[] = [
  { source: 'anthropics/claude-code#76353', says: 'Children are ended with taskkill or a Job Object.', reason: WINDOWS },
  { source: 'anthropics/claude-code#31740', says: "Output in the console's code page is decoded.", reason: WINDOWS },
  { source: 'agentscope-ai/agentscope#2130', says: 'A script reaches PowerShell unchanged.', reason: WINDOWS },
  { source: 'agentscope-ai/agentscope#2340', says: 'A Windows host talks to a Linux sandbox in its own shell.', reason: WINDOWS },
  { source: 'open-multi-agent#357', says: 'Orphans of Git Bash are reached.', reason: WINDOWS },
  { source: 'modelcontextprotocol/servers#1838', says: 'Drive letters compare without case.', reason: WINDOWS },
  { source: 'modelcontextprotocol/servers#3756', says: 'UNC paths and mapped drives are taken.', reason: WINDOWS },
  { source: 'modelcontextprotocol/servers#3174', says: 'Roots with an encoded drive letter are decoded.', reason: WINDOWS },
]
