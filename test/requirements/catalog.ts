import type { Requirement } from '../support/verifies.ts'

const OWN_DIRECTORY = {
  backends: ['local', 'docker'],
  reason: 'No directory of the user is seen there: Atelier made the one it works in.',
}
const SILENT_END = 'What carries the stream there outlives a host that is killed; the gateway misses it after 45 s of silence.'

const HTTP_ONLY = 'HTTP is meant'
const CONTAINERS = { backends: ['docker'], reason: 'A container of an engine is meant.' }

/** Every promise that is tested end to end. A test file says `verifies(id, …)`; ids without a test, and tests without an id, fail. */
export const requirements = {
  'bash.exit-code': {
    source: 'docs/architecture.md: processes',
    says: 'A non-zero exit is a result that names the code, not a failure of the tool.',
  },
  'bash.duration': {
    source: 'docs/architecture.md: tools',
    says: 'Each answer ends with how the command ended and how long it took, also where it printed nothing.',
  },
  'bash.signal': { source: 'docs/architecture.md: processes', says: 'A command that a signal ended says which one.' },
  'bash.missing-command': {
    source: 'docs/architecture.md: processes',
    says: "An unknown program gives 127 with the shell's message.",
  },
  'bash.output.order': { source: 'docs/architecture.md: processes', says: 'stdout and stderr stand in the order of writing.' },
  'bash.output.device': {
    source: 'docs/architecture.md: processes',
    says: 'Writing to /dev/stderr or /dev/stdout works and loses nothing.',
  },
  'bash.output.ansi': { source: 'anthropics/claude-code#26373', says: 'Escape sequences are not shown.' },
  'bash.output.carriage-return': {
    source: 'anthropics/claude-code#23540',
    says: 'A progress bar that overwrites itself is shown as it stands at the end.',
  },
  'bash.output.split-character': {
    source: 'anthropics/claude-code#51835',
    says: 'A character whose bytes come apart is put together again.',
  },
  'bash.output.truncation': {
    source: 'anthropics/claude-code#51835',
    says: 'Long output keeps head and tail and is never cut inside a character.',
  },
  'bash.output.log': { source: 'anthropics/claude-code#45766', says: 'A cut answer names a log that Read can open.' },
  'bash.output.bounded': {
    source: 'docs/architecture.md: processes',
    says: 'An endless printer is ended at its time-out and costs a bounded answer.',
  },
  'bash.stdin.empty': {
    source: 'anthropics/claude-code#292',
    says: 'A command that reads its input meets the end of it at once.',
  },
  'bash.stdin.no-rshd': {
    source: 'docs/architecture.md: processes',
    says: 'bash never takes us for a remote shell and reads no ~/.bashrc.',
  },
  'bash.heredoc': { source: 'anthropics/claude-code#84429', says: 'A quoted heredoc arrives as written.' },
  'bash.heredoc.unterminated': {
    source: 'docs/architecture.md: shell state',
    says: "An unfinished construct fails at once with bash's own message.",
  },
  'bash.text.verbatim': { source: 'anthropics/claude-code#84429', says: 'Quotes, backticks and dollar signs arrive as written.' },
  'bash.text.prompt-like': { source: 'docs/architecture.md: processes', says: 'Output that looks like a prompt is only output.' },
  'bash.text.long': { source: 'docs/architecture.md: shell state', says: 'A command longer than one argument may be runs.' },
  'bash.text.nul': { source: 'docs/architecture.md: shell state', says: 'A NUL in the command is refused before the start.' },
  'bash.env.quiet': { source: 'anthropics/claude-code#27401', says: 'Pagers and prompts of git are off unless asked for.' },
  'bash.state.carries': {
    source: 'docs/architecture.md: shell state',
    says: 'Directory and exports carry over to the next command.',
  },
  'bash.state.after-errors': {
    source: 'docs/architecture.md: shell state',
    says: 'They carry over after set -e, traps and syntax errors too.',
  },
  'bash.state.exec': {
    source: 'anthropics/claude-code#94469',
    says: 'A command that replaces its shell leaves the state as it was.',
  },
  'bash.state.directory-gone': {
    source: 'anthropics/claude-code#52747',
    says: 'In a directory that is gone nothing is run; it is said, and the next command works.',
  },
  'bash.state.private': { source: 'docs/architecture.md: shell state', says: 'Two clients never share shell state.' },
  'bash.parallel': { source: 'docs/architecture.md: processes', says: 'Parallel commands each get their own answer.' },
  'bash.parallel.state': {
    source: 'docs/architecture.md: shell state',
    says: 'Parallel commands each merge only what they changed.',
  },
  'bash.timeout.kills-tree': { source: 'anthropics/claude-code#79902', says: 'At a time-out nothing of the tree is left.' },
  'bash.timeout.setsid': {
    source: 'anthropics/claude-code#42532',
    says: 'What left the process group is found and ended with it.',
  },
  'bash.timeout.output': {
    source: 'anthropics/claude-code#28408',
    says: 'The answer comes at the deadline, with what was printed until then, whoever holds the pipe.',
  },
  'bash.timeout.validated': {
    source: 'anthropics/claude-code#34138',
    says: 'A time-out over the limit is brought down to it and the limit named; a bad one is refused.',
  },
  'bash.child.returns': { source: 'anthropics/claude-code#93794', says: 'A child in the background does not hold the answer.' },
  'bash.child.silent': { source: 'anthropics/claude-code#93794', says: 'Nor does one whose output is thrown away.' },
  'bash.child.listed': {
    source: 'anthropics/claude-code#92399',
    says: 'Children that outlive a command become a job that can be ended.',
  },
  'bash.kill-zero': {
    source: 'anthropics/claude-code#45717',
    says: 'A command that signals its own group hits nothing of ours.',
  },
  'bash.cancel': { source: 'cyanheads/mcp-ts-core#311', says: 'A cancelled call ends its process group.' },
  'bash.progress': {
    source: 'modelcontextprotocol/typescript-sdk#245',
    says: 'Output arrives as progress while the command runs.',
  },
  'bash.arguments.unknown': { source: 'docs/architecture.md: tools', says: 'An unknown argument is refused by name.' },
  'bash.arguments.missing': { source: 'docs/architecture.md: tools', says: 'A missing argument is named.' },
  'bash.pid': { source: 'docs/architecture.md: shell state', says: "A command's own text can't be hit by its pkill -f." },
  'jobs.background': { source: 'docs/architecture.md: jobs', says: 'A background command answers at once with its id.' },
  'jobs.exit-code': { source: 'anthropics/claude-code#92399', says: 'A job tells its true exit code.' },
  'jobs.output.new-only': { source: 'docs/architecture.md: jobs', says: 'BashOutput gives what is new, or all from an offset.' },
  'jobs.output.filter': { source: 'docs/architecture.md: jobs', says: 'A filter keeps the lines that match.' },
  'jobs.output.bad-filter': { source: 'docs/architecture.md: jobs', says: 'A bad filter is an error that quotes it.' },
  'jobs.input': { source: 'docs/architecture.md: jobs', says: 'Text and end of input reach a job that was started for it.' },
  'jobs.input.none': { source: 'docs/architecture.md: jobs', says: 'Input to a job without one is refused.' },
  'jobs.kill': { source: 'anthropics/claude-code#79902', says: 'KillBash ends the whole group.' },
  'jobs.kill.stubborn': { source: 'docs/architecture.md: jobs', says: 'A job that ignores SIGTERM is ended all the same.' },
  'jobs.unknown': { source: 'docs/architecture.md: jobs', says: 'An unknown id is an error that names it.' },
  'jobs.soft-limit': {
    source: 'modelcontextprotocol/typescript-sdk#245',
    says: 'A command that outlasts the soft limit goes on as a job.',
  },
  'jobs.shared': {
    source: 'docs/architecture.md: jobs',
    says: 'Jobs belong to the workspace: another client of it can read them.',
  },
  'read.numbers': { source: 'docs/architecture.md: files', says: 'A range of lines is numbered and says where it stands.' },
  'read.tail': { source: 'docs/architecture.md: files', says: 'A negative offset counts from the end.' },
  'read.last-line': { source: 'docs/architecture.md: files', says: 'The last line is read without a newline at its end.' },
  'read.empty': { source: 'docs/architecture.md: files', says: 'An empty file says so.' },
  'read.past-end': { source: 'docs/architecture.md: files', says: 'An offset past the end says how long the file is.' },
  'read.directory': { source: 'docs/architecture.md: files', says: 'A directory is named as one.' },
  'read.binary': { source: 'anthropics/claude-code#2939', says: 'A binary file is named as one, not poured out.' },
  'read.special': { source: 'docs/architecture.md: files', says: 'FIFOs and devices are refused without waiting on them.' },
  'read.missing': { source: 'docs/architecture.md: files', says: 'A missing file is answered with near names.' },
  'read.encodings': { source: 'anthropics/claude-code#50717', says: 'UTF-16 and Latin-1 are decoded and named.' },
  'read.long-line': { source: 'docs/architecture.md: files', says: 'A 3 MB line is cut and said to be.' },
  'read.fresh': { source: 'anthropics/claude-code#55518', says: 'Read is never answered from a stale copy.' },
  'read.image': {
    source: 'docs/reading.md',
    says: 'An image is known by its bytes and given as image content, unchanged where it fits.',
  },
  'read.image.scaled': {
    source: 'docs/reading.md',
    says: 'One that is too large is scaled down to the limits of pixels and bytes, and the factor told.',
  },
  'read.image.broken': { source: 'docs/reading.md', says: 'A damaged or cut image is told with the reason, and never given.' },
  'read.image.bomb': {
    source: 'docs/reading.md',
    says: 'An image of 400 million pixels is scaled down, or refused with the reason.',
  },
  'read.pdf': { source: 'docs/reading.md', says: 'A PDF is given as the text of its pages, with their numbers.' },
  'read.pdf.pages': { source: 'docs/reading.md', says: 'Over 10 pages they have to be named, 20 at most at once.' },
  'read.pdf.images': { source: 'docs/reading.md', says: 'Pages are given as images where that is asked for.' },
  'read.pdf.hostile': { source: 'docs/reading.md', says: 'An encrypted or damaged PDF is told, with the next step.' },
  'read.notebook': {
    source: 'docs/reading.md',
    says: 'A notebook is given as cells with their outputs, images among them; what is too long is cut.',
  },
  'read.archive': { source: 'docs/reading.md', says: 'An archive is listed.' },
  'read.host-killed': {
    source: 'docs/reading.md',
    says: 'A reader at work on a hostile file is gone soon after its host was killed.',
    only: { backends: ['local'], reason: 'Files are read on the host, whatever the backend.' },
  },
  'read.audio': { source: 'docs/reading.md', says: 'A sound is given as audio content.' },
  'files.names': {
    source: 'docs/architecture.md: files',
    says: 'Odd names work: spaces, quotes, newlines, non-ASCII, a leading dash.',
  },
  'files.relative': {
    source: 'modelcontextprotocol/servers#2526',
    says: "Relative paths resolve against the workspace's directory.",
  },
  'files.confine': {
    source: 'modelcontextprotocol/servers#1845',
    says: 'Confined, no path leads outside: not by .., symlink or a like-named neighbour.',
  },
  'write.parents': { source: 'modelcontextprotocol/servers#4629', says: 'Missing folders are made.' },
  'write.read-first': {
    source: 'agentscope-ai/agentscope#1648',
    says: "An existing file must have been read; one's own write counts.",
  },
  'write.changed-since': { source: 'earendil-works/pi#6989', says: 'A file that changed since it was read is not overwritten.' },
  'write.touched': { source: 'anthropics/claude-code#12981', says: 'A new time stamp alone is no change.' },
  'write.keeps': { source: 'anthropics/claude-code#55518', says: 'Mode is kept, symlinks are written through.' },
  'write.large': { source: 'anthropics/claude-code#55518', says: '20 MB arrive whole.' },
  'write.fails-whole': { source: 'anthropics/claude-code#55518', says: "A write that can't be done is an error." },
  'edit.crlf': {
    source: 'anthropics/claude-code#13456',
    says: 'Text with LF matches a file with CRLF, which keeps its line ends.',
  },
  'edit.mixed-eol': { source: 'anthropics/claude-code#27718', says: 'Mixed line ends stay as they are.' },
  'edit.bom': { source: 'anthropics/claude-code#13456', says: 'A byte order mark stays.' },
  'edit.encoding': { source: 'anthropics/claude-code#50717', says: "The file's encoding stays." },
  'edit.encoding.lossy': {
    source: 'anthropics/claude-code#50717',
    says: "What the encoding can't hold is refused, the file left whole.",
  },
  'edit.dollar': { source: 'modelcontextprotocol/servers#4157', says: 'The new text is taken literally.' },
  'edit.several': {
    source: 'docs/architecture.md: files',
    says: 'Several matches are an error with their lines, or all are replaced.',
  },
  'edit.none': { source: 'docs/architecture.md: files', says: 'No match is answered with the nearest place and what differs.' },
  'edit.grows': { source: 'anthropics/claude-code#55518', says: 'A growing edit keeps the tail.' },
  'edit.parallel': { source: 'earendil-works/pi#2327', says: 'Twenty parallel edits of one file all land.' },
  'edit.read-first': { source: 'agentscope-ai/agentscope#1648', says: 'A file that was not read is not edited.' },
  'edit.again': { source: 'agentscope-ai/agentscope#2084', says: 'A second edit needs no second read.' },
  'edit.changed-since': { source: 'earendil-works/pi#6989', says: 'A file that changed since it was read is not edited.' },
  'edit.same': { source: 'docs/architecture.md: files', says: 'An edit that changes nothing is refused.' },
  'edit.excerpt': { source: 'docs/architecture.md: files', says: 'The answer shows the place as it is now.' },
  'edit.notebook': {
    source: 'docs/reading.md',
    says: "An edit of a notebook changes the source of a cell; the file's form stays.",
  },
  'edit.notebook.valid': { source: 'docs/reading.md', says: 'An edit that would break a notebook is refused.' },
  'edit.private': {
    source: 'modelcontextprotocol/typescript-sdk#820',
    says: 'What one client has read does not count for another.',
  },
  'glob.newest-first': { source: 'docs/architecture.md: search', says: 'Files come newest first.' },
  'glob.braces': { source: 'docs/architecture.md: search', says: 'Braces work and hidden folders are searched.' },
  'glob.ignores': { source: 'docs/architecture.md: search', says: '.git is skipped, .gitignore not applied.' },
  'glob.none': { source: 'opencode#24972', says: 'No file is told apart from a folder that is not there.' },
  'glob.cap': { source: 'modelcontextprotocol/servers#1077', says: 'A cut list says so.' },
  'grep.content': {
    source: 'docs/architecture.md: search',
    says: 'Lines come with file and number; case counts unless asked otherwise.',
  },
  'grep.context': { source: 'docs/architecture.md: search', says: 'Lines around a match are shown when asked for.' },
  'grep.modes': { source: 'docs/architecture.md: search', says: 'Counting, types and globs work.' },
  'grep.multiline': { source: 'docs/architecture.md: search', says: 'A pattern may span lines when asked to.' },
  'grep.ignores': { source: 'docs/architecture.md: search', says: '.gitignore is applied, .git skipped.' },
  'grep.none': { source: 'opencode#24972', says: 'No match is an answer, not an error.' },
  'grep.bad-pattern': { source: 'opencode#24972', says: 'A bad pattern is an error that quotes it.' },
  'grep.broken-link': { source: 'opencode#8307', says: 'A dangling link does not hide what was found.' },
  'grep.long-line': { source: 'docs/architecture.md: search', says: 'A long line is cut around the match.' },
  'grep.dash': { source: 'docs/architecture.md: search', says: 'A pattern or file with a leading dash is no option.' },
  'grep.cap': { source: 'docs/architecture.md: search', says: 'A cut answer says so.' },
  'grep.missing-path': { source: 'opencode#24972', says: 'A folder that is not there is an error that names it.' },
  'life.stdin-end': {
    source: 'modelcontextprotocol/typescript-sdk#2002',
    says: 'A stdio server ends with its client, and so do its commands.',
    not: { http: 'a stdio client is meant' },
  },
  'life.sigterm': {
    source: 'anthropics/claude-code#93087',
    says: 'SIGTERM ends server and commands.',
    not: { http: 'over HTTP a server detaches: see life.detach' },
  },
  'life.sighup': {
    source: 'anthropics/claude-code#93087',
    says: 'SIGHUP ends server and commands.',
    not: { http: 'over HTTP a server detaches: see life.detach' },
  },
  'life.sigint': {
    source: 'anthropics/claude-code#93087',
    says: 'SIGINT ends server and commands.',
    not: { http: 'over HTTP a server detaches: see life.detach' },
  },
  'life.client-vanished': {
    source: 'anthropics/claude-code#93087',
    says: 'A client that is killed takes everything with it.',
    not: { http: 'a stdio client is meant' },
  },
  'life.broken-pipe': {
    source: 'modelcontextprotocol/typescript-sdk#1564',
    says: 'A closed stdout ends the server without a crash or a loop of logs.',
    not: { http: 'stdout is no stream of HTTP' },
  },
  'life.host-killed.inherited': {
    source: 'docs/architecture.md: life and death',
    says: 'After a SIGKILL of the host the next one reads its jobs, with the true exit code.',
  },
  'life.host-killed.foreground': {
    source: 'docs/architecture.md: life and death',
    says: 'A foreground command of a killed host waits for the next one.',
    not: {
      http: 'over HTTP the grace time is 15 minutes',
      ...{ daytona: SILENT_END, e2b: SILENT_END, opensandbox: SILENT_END },
    },
  },
  'life.host-killed.ended': {
    source: 'docs/architecture.md: life and death',
    says: 'A foreground command that ended before the next host came is found by it, with the true exit code.',
    not: {
      http: 'over HTTP the grace time is 15 minutes',
      ...{ daytona: SILENT_END, e2b: SILENT_END, opensandbox: SILENT_END },
    },
  },
  'life.host-killed.grace': {
    source: 'docs/architecture.md: life and death',
    says: 'After the grace time nothing is left.',
    not: { http: 'over HTTP the grace time is 15 minutes' },
  },
  'life.detached-children': {
    source: 'anthropics/claude-code#42532',
    says: 'Children in a session of their own end with the client.',
    not: { http: 'over HTTP a server detaches' },
  },
  'life.gateway-killed': {
    source: 'docs/architecture.md: life and death',
    says: 'A killed gateway is replaced by the next call.',
  },
  'life.gateway-killed.orphans': {
    source: 'docs/architecture.md: life and death',
    says: 'What a killed gateway had running in the foreground, and its private files, are gone once it is replaced; its jobs go on.',
    not: {
      docker: 'the gateway is the main process: the container and all in it end with it, and the next call says what was lost',
      kubernetes: 'the gateway is the main process: the Pod and all in it end with it, and the next call says what was lost',
    },
  },
  'life.nothing-in-project': {
    source: "docs/architecture.md: the workspace's folders",
    says: 'In a directory that the user had nothing of ours appears.',
    only: OWN_DIRECTORY,
  },
  'life.detach': {
    source: 'docs/architecture.md: life and death',
    says: 'An HTTP server that ends leaves jobs running; the next one reads them.',
    not: { stdio: 'a stdio host ends its jobs: see life.stdin-end' },
  },
  'life.configuration-error': {
    source: 'docs/configuration.md',
    says: 'A configuration error ends the process with code 2 and names the key.',
    not: { http: 'the same reader serves both' },
  },
  'life.lost-link': {
    source: 'docs/architecture.md: life and death',
    says: 'A link that is lost without a word keeps its commands for the grace time, 30 s on local stdio, 15 min elsewhere.',
    not: { http: 'a command of 15 minutes is not waited for; life.detach and life.host-killed.inherited hold over HTTP' },
  },
  'life.container': {
    source: 'docs/docker.md',
    says: 'A container that is stopped, killed or removed fails the call in flight with the reason; the next one works and says what was lost.',
    only: CONTAINERS,
  },
  'life.container-paused': {
    source: 'docs/docker.md',
    says: 'A container that was paused is resumed by the next host, with what runs in it; nothing is lost.',
    only: CONTAINERS,
    not: { http: 'a server that stays notices a paused container by its heartbeat, after 45 s' },
  },
  'life.engine-gone': {
    source: 'docs/docker.md',
    says: 'While the engine is away calls say so; when it is back the workspace goes on.',
    only: CONTAINERS,
  },
  'life.two-hosts': {
    source: 'docs/architecture.md: life and death',
    says: 'A host that leaves does not disturb another on the same workspace.',
  },
  'protocol.tools': { source: 'docs/architecture.md: tools', says: 'The tools are all there, described and annotated.' },
  'protocol.instructions': { source: 'docs/architecture.md: the MCP surface', says: 'Server instructions are there and short.' },
  'protocol.unknown-tool': { source: 'docs/architecture.md: tools', says: 'An unknown tool is named in the error.' },
  'protocol.unknown-method': { source: 'docs/architecture.md: the MCP surface', says: 'An unknown method gives -32601.' },
  'protocol.concurrent': { source: 'docs/architecture.md: the MCP surface', says: 'A slow call holds up no other.' },
  'protocol.structured': { source: 'modelcontextprotocol/typescript-sdk#2748', says: 'Text carries the whole answer.' },
  'protocol.facts': {
    source: 'docs/architecture.md: tools',
    says: 'Facts for programs stand beside the text and do not repeat it.',
  },
  'protocol.prompt': { source: 'docs/architecture.md: the MCP surface', says: 'A prompt explains the workspace.' },
  'protocol.logging': { source: 'docs/architecture.md: the MCP surface', says: 'Capabilities and logging level work.' },
  'protocol.malformed': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'A malformed line gives -32700 and serving goes on.',
    not: { http: 'lines are the stdio framing' },
  },
  'protocol.versions': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'Each supported version is answered with itself, another with the newest.',
    not: { http: 'spoken to line by line' },
  },
  'protocol.pipelined': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'Requests sent before the first answer lose nothing.',
    not: { http: 'lines are the stdio framing' },
  },
  'protocol.split-bytes': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'A line may come byte by byte.',
    not: { http: 'lines are the stdio framing' },
  },
  'protocol.long-line': {
    source: 'modelcontextprotocol/typescript-sdk#2239',
    says: 'A 30 MB message is taken.',
    not: { http: 'lines are the stdio framing' },
  },
  'protocol.cancel-id-zero': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'A request with id 0 can be cancelled.',
    not: { http: 'spoken to line by line' },
  },
  'protocol.stray-output': {
    source: 'n8n-mcp#673',
    says: "A stray console.log never reaches the protocol's stream.",
    not: { http: 'stdout is no stream of HTTP' },
  },
  'http.session.unknown': {
    source: 'modelcontextprotocol/typescript-sdk#1708',
    says: 'An unknown session is 404, none is 400.',
    not: { stdio: HTTP_ONLY },
  },
  'http.session.deleted': {
    source: 'LibreChat#14248',
    says: 'A deleted session is gone.',
    not: { stdio: HTTP_ONLY },
  },
  'http.host': {
    source: 'modelcontextprotocol/typescript-sdk#2676',
    says: 'A foreign Host or Origin is 403.',
    not: { stdio: HTTP_ONLY },
  },
  'http.token': { source: 'docs/security.md', says: 'Without the right token everything is 401.', not: { stdio: HTTP_ONLY } },
  'http.token.file': {
    source: 'docs/security.md',
    says: 'The token is kept in one file, 0600, and stays the same.',
    not: { stdio: HTTP_ONLY },
  },
  'http.body-limit': {
    source: 'docs/configuration.md',
    says: 'A body over the limit is 413 and names it.',
    not: { stdio: HTTP_ONLY },
  },
  'http.requests.bad': {
    source: 'docs/architecture.md: HTTP',
    says: 'Bad requests get the right status.',
    not: { stdio: HTTP_ONLY },
  },
  'http.health': { source: 'docs/architecture.md: HTTP', says: 'Health needs no token.', not: { stdio: HTTP_ONLY } },
  'http.stream-drop': {
    source: 'docs/architecture.md: HTTP',
    says: 'A dropped stream cancels nothing.',
    not: { stdio: HTTP_ONLY },
  },
  'http.session-end.kills': {
    source: 'cyanheads/mcp-ts-core#311',
    says: 'The end of a session ends its commands.',
    not: { stdio: HTTP_ONLY },
  },
  'http.clients.apart': {
    source: 'modelcontextprotocol/typescript-sdk#820',
    says: "Clients never see each other's answers.",
    not: { stdio: HTTP_ONLY },
  },
  'http.storm': {
    source: 'enuno/unifi-mcp-server#173',
    says: 'A storm of GETs without a session leaves memory flat.',
    not: { stdio: HTTP_ONLY },
  },
  'http.bind': {
    source: 'docs/security.md',
    says: 'A non-loopback address without authentication is refused.',
    not: { stdio: HTTP_ONLY },
  },
  'http.shutdown': {
    source: 'docs/architecture.md: HTTP',
    says: 'A server that is asked to end finishes its answers.',
    not: { stdio: HTTP_ONLY },
  },
  'workspaces.create': { source: 'docs/architecture.md: manager', says: 'A created workspace becomes the current one.' },
  'workspaces.attach': { source: 'docs/architecture.md: manager', says: 'A name leads back to the same workspace.' },
  'workspaces.use': { source: 'docs/architecture.md: manager', says: 'A call may name its workspace.' },
  'workspaces.race': { source: 'agentscope-ai/agentscope#1755', says: 'Parallel creation under one name makes one workspace.' },
  'workspaces.status': { source: 'docs/architecture.md: manager', says: 'Status tells directory and state.' },
  'workspaces.status.use': {
    source: 'docs/docker.md',
    says: 'Status tells memory and disk where the backend can, and in a container the processor and the limits of its profile.',
  },
  'workspaces.list.backends': {
    source: 'docs/architecture.md: manager',
    says: 'The list shows workspaces of every backend that is open, and a call may name one of any.',
    only: CONTAINERS,
  },
  'workspaces.create.closed-host': {
    source: 'docs/security.md',
    says: 'No call gets at the host: not by its backend, a workspace that is there, an image, a profile, or an argument of its own.',
    only: CONTAINERS,
  },
  'workspaces.offline': {
    source: 'agentscope-ai/agentscope#2113',
    says: 'A workspace starts and works without a network: nothing is fetched.',
    only: { backends: ['docker'], reason: 'The network is taken away by a profile of a container.' },
  },
  'workspaces.cycles': {
    source: 'docs/docker.md',
    says: 'Twenty times created and closed, or deleted, leaves nothing on the engine and nothing running.',
    only: CONTAINERS,
    not: { http: 'the containers are the same: once is enough' },
  },
  'workspaces.unknown': { source: 'docs/architecture.md: manager', says: 'An unknown workspace is an error that names it.' },
  'workspaces.names': { source: 'agentscope-ai/agentscope#1249', says: 'Names never lead out of the data directory.' },
  'workspaces.delete': {
    source: 'docs/architecture.md: manager',
    says: 'Deletion says what goes first and then does it.',
    only: { backends: ['local', 'docker'], reason: 'The files of a workspace by name are not on this host.' },
  },
  'workspaces.delete.refused': {
    source: 'docs/architecture.md: manager',
    says: 'A directory that Atelier did not make is not deleted.',
    only: OWN_DIRECTORY,
  },
  'workspaces.reset': { source: 'docs/architecture.md: manager', says: "Reset clears state and keeps the user's files." },
  'workspaces.close': { source: 'docs/architecture.md: manager', says: 'Closing ends what runs.' },
  'resources.list': { source: 'docs/architecture.md: the MCP surface', says: 'Workspaces are resources with their status.' },
  'resources.templates': { source: 'docs/architecture.md: the MCP surface', says: 'Files have a template.' },
  'resources.text': { source: 'docs/architecture.md: the MCP surface', says: 'Text files are read as text, odd names encoded.' },
  'resources.blob': { source: 'docs/architecture.md: the MCP surface', says: 'Other files are read as blobs.' },
  'resources.image': { source: 'docs/architecture.md: the MCP surface', says: 'Images are read as blobs, unchanged.' },
  'resources.refused': {
    source: 'modelcontextprotocol/servers#1845',
    says: 'No URI leads out of the workspace; a missing file is named.',
  },
  'resources.subscribe': {
    source: 'docs/architecture.md: subscriptions',
    says: 'Each change of a subscribed file is told: by anyone, by a rename over it, its removal and its return.',
  },
  'resources.unsubscribe': {
    source: 'docs/architecture.md: subscriptions',
    says: 'After unsubscribing nothing is told of a resource any more, and the others go on.',
  },
  'resources.subscribe.directory': {
    source: 'docs/architecture.md: subscriptions',
    says: 'Of a subscribed directory the coming and going of entries is told.',
  },
  'resources.subscribe.status': {
    source: 'docs/architecture.md: subscriptions',
    says: 'Of a subscribed workspace the begin and end of its jobs are told, its closing and its next opening.',
  },
  'resources.subscribe.refused': {
    source: 'docs/architecture.md: subscriptions',
    says: 'What is not there, or lies outside, is refused by name when it is subscribed to.',
  },
  'resources.subscribe.life': {
    source: 'docs/architecture.md: subscriptions',
    says: 'A subscription ends with its workspace, which is told, and can be made again.',
  },
  'resources.subscribe.restart': {
    source: 'docs/architecture.md: subscriptions',
    says: 'A subscription outlives a gateway that was killed.',
    not: {
      docker: 'The gateway is the main process there: its end is the end of the container, which the next call starts again.',
    },
  },
  'workspaces.roots': {
    source: 'docs/architecture.md: the MCP surface',
    says: "A client's roots are workspaces where the operator allows it, and follow their changes.",
    not: {
      http: "Over HTTP roots name another machine's paths.",
      docker: 'The flag is for the default backend; the container of each root is dear.',
    },
    only: OWN_DIRECTORY,
  },
  'workspaces.roots.off': {
    source: 'docs/architecture.md: the MCP surface',
    says: "A client's roots are no workspaces unless the operator allows it.",
    not: { docker: 'Nothing is asked of a backend for it.' },
  },
  'tasks.job': {
    source: 'docs/architecture.md: tasks',
    says: 'A Bash call as a task is a job: it can be asked for, listed, and its result awaited.',
  },
  'tasks.sdk': { source: 'docs/architecture.md: tasks', says: "The SDK's own client runs a Bash call as a task." },
  'tasks.cancel': {
    source: 'docs/architecture.md: tasks',
    says: 'Cancelling a task ends all that its command started, once.',
  },
  'tasks.refused': {
    source: 'docs/architecture.md: tasks',
    says: 'Other tools run as no task, and an unknown task is an error that names it.',
  },
  'workspaces.confirm.asked': {
    source: 'docs/architecture.md: confirmation',
    says: 'A client that can ask its user does so before a workspace is deleted, and shows what goes.',
  },
  'workspaces.confirm.declined': {
    source: 'docs/architecture.md: confirmation',
    says: 'What the user declines is not done, whatever the argument confirm says.',
  },
  'workspaces.confirm.open': {
    source: 'docs/architecture.md: confirmation',
    says: 'What the user leaves open is not done; then the argument confirm counts, once, for that alone.',
  },
  'workspaces.confirm.impossible': {
    source: 'docs/architecture.md: confirmation',
    says: 'Where the question fails, the argument confirm counts.',
  },
  'protocol.log-links': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'The log of output that is not shown whole is linked as a resource that can be read, with its size.',
  },
  'protocol.log-links.job': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'The start of a job links its log, which is there at once; so does its end, with the size.',
  },
  'resources.list-changed': {
    source: 'docs/architecture.md: subscriptions',
    says: 'A client that has the list of resources is told when it is another.',
  },
  'resources.completion': {
    source: 'docs/architecture.md: the MCP surface',
    says: 'Workspaces and paths are completed, and no completion leads out.',
  },
  'nested.add': { source: 'docs/nested-servers.md', says: 'A server that is added shows its tools at once, and works.' },
  'nested.add.refused': {
    source: 'docs/nested-servers.md',
    says: 'What can not be connected to is not kept, and the answer says why.',
  },
  'nested.remove': { source: 'docs/nested-servers.md', says: 'A removed server ends, and its tools are gone.' },
  'nested.call': {
    source: 'docs/nested-servers.md',
    says: 'mcp_call reaches every tool with all that belongs to a call, and mcp_list shows what to call it with.',
  },
  'nested.names': {
    source: 'docs/nested-servers.md',
    says: 'Tools of one name, with odd names and with long ones are all reachable by legal names.',
  },
  'nested.restart': { source: 'docs/nested-servers.md', says: 'The next run shows the same tools from its first list on.' },
  'nested.start-list': {
    source: 'docs/nested-servers.md',
    says: 'A stdio server answers its first list with nested tools before anything is loaded.',
    not: { http: 'An HTTP server has no quick start.' },
  },
  'nested.broken': {
    source: 'docs/nested-servers.md',
    says: 'Servers that fail or hang hide nothing else, and mcp_list says what is wrong with them.',
  },
  'nested.expose': {
    source: 'docs/nested-servers.md',
    says: 'Bare names go to the server that was declared first; the others keep their prefix.',
  },
  'nested.environment': {
    source: 'docs/nested-servers.md',
    says: 'A server has the directory and environment that Bash has.',
  },
  'nested.refusal': {
    source: 'docs/nested-servers.md',
    says: 'A question that the client can not answer is refused with the name of what it lacks.',
  },
  'nested.instructions': {
    source: 'docs/nested-servers.md',
    says: 'Instructions of a server stand in mcp_list and in the prompt of instructions.',
  },
  'nested.clients': {
    source: 'docs/nested-servers.md',
    says: 'Clients of one server get their own answers and their own questions.',
  },
  'nested.current': { source: 'docs/nested-servers.md', says: 'The list shows the servers of the current workspace.' },
  'nested.many': {
    source: 'docs/nested-servers.md',
    says: 'Of 50 declared servers the first list shows the tools of all good ones at once, and all of them start and answer.',
  },
  'nested.scopes': {
    source: 'agentscope-ai/agentscope#1796',
    says: "Agents in one workspace have servers of their own: what one adds, removes or counts is not another's.",
  },
  'nested.entry': {
    source: 'agentscope-ai/agentscope#1817',
    says: 'An entry of .mcp that can not be used is reported and kept, and the others work.',
  },
  'nested.disk': {
    source: 'docs/nested-servers.md',
    says: 'What somebody changes in .mcp on disk is noticed at the next list: new servers start, those struck out end.',
  },
  'nested.hung': {
    source: 'agentscope-ai/QwenPaw#6724',
    says: "A call that hangs is ended by its limit with the server's name, progress puts the limit off, and the server goes on.",
  },
  'nested.takeover': {
    source: 'docs/nested-servers.md',
    says: 'A server outlives a killed host: the next one finds its state, without a second initialize.',
    not: { 'opensandbox/stdio': SILENT_END },
  },
  'nested.left-running': {
    source: 'docs/nested-servers.md',
    says: 'What a killed host left running is shown as running to the next one, and ends when it is removed.',
    not: { 'opensandbox/stdio': SILENT_END },
  },
  'nested.capacity': {
    source: 'docs/nested-servers.md',
    says: 'At the bound of running servers the idle ones of another scope make room, never a busy one.',
  },
  'nested.neighbours': {
    source: 'docs/nested-servers.md',
    says: 'A workspace of the host itself, which sees the processes of containers, leaves their servers alone.',
    not: { local: 'Both would be one workspace.' },
  },
  'nested.odd-items': {
    source: 'docs/nested-servers.md',
    says: 'A tool that the protocol does not allow, or a list that never rests, hides no other tool, and is told of.',
  },
  'nested.long-line': {
    source: 'modelcontextprotocol/typescript-sdk#2536',
    says: 'A message of 30 MiB is carried; an answer of 50 MB is refused as an error of its call, news of 40 MB harm none.',
  },
  'nested.tree': {
    source: 'modelcontextprotocol/typescript-sdk#579',
    says: 'The whole tree of a removed server ends, however stubborn and in whatever session.',
  },
  'nested.cancelled-start': {
    source: 'agentscope-ai/agentscope#2458',
    says: 'A start that is cancelled leaves no process and no declaration.',
  },
  'nested.untidy': {
    source: 'agentscope-ai/agentscope#742',
    says: 'Banners, much stderr and an exit after each call do not disturb.',
  },
  'nested.changed': { source: 'apify/apify-mcp-server#1233', says: 'A changed list of a server is announced and shown.' },
  'nested.schema': { source: 'agentscope-ai/QwenPaw#4191', says: 'The schema of a tool is shown word for word, $defs included.' },
  'nested.secrets': {
    source: 'docs/nested-servers.md',
    says: "The operator's declarations see the host's variables; an agent's see neither those nor any key.",
  },
  'nested.url': {
    source: 'agentscope-ai/agentscope#2309',
    says: 'Servers by URL work, Streamable HTTP without a stream of news and HTTP+SSE with a query, and again after their removal.',
  },
  'offload.context': {
    source: 'docs/offloading.md',
    says: 'Messages lie in context.jsonl, a line each, in order; Read and the URI find them again.',
  },
  'offload.context.concurrent': {
    source: 'anthropics/claude-code#28829',
    says: 'Clients that offload at the same time into one session lose nothing.',
  },
  'offload.context.cost': {
    source: 'docs/offloading.md',
    says: 'An append costs the same with 10 000 messages as with none.',
  },
  'offload.ids': {
    source: 'github/advisory-database#6976',
    says: "No session's or call's id leads out of its folder.",
  },
  'offload.data': {
    source: 'docs/offloading.md',
    says: 'One content has one name, however its base64 is wrapped and whatever message it comes in.',
  },
  'offload.result': {
    source: 'agentscope-ai/agentscope#1773',
    says: 'A result is found again by path and URI, and searched; a second one under its id takes another name.',
  },
  'offload.automatic': {
    source: 'anthropics/claude-code#45766',
    says: 'A result over the limit keeps head and tail, and names a file that the same server reads.',
  },
  'offload.automatic.parallel': {
    source: 'docs/offloading.md',
    says: 'Large results of parallel calls each have a file of their own.',
  },
  'offload.automatic.off': {
    source: 'docs/offloading.md',
    says: 'Configuration, a call or a client that takes any size turn it off.',
  },
  'offload.nested': {
    source: 'docs/offloading.md',
    says: 'Large results of nested tools are offloaded as our own are, and structured content stays where a schema promises it.',
  },
  'offload.other-workspace': {
    source: 'docs/offloading.md',
    says: 'What a call offloads in a workspace that it names has a URI that leads there.',
  },
  'offload.private': {
    source: 'agentscope-ai/agentscope-java#3261',
    says: "With a workspace for each session, neither an absolute path nor a URI leads to another session's offloaded files.",
  },
  'offload.sessions': {
    source: 'docs/offloading.md',
    says: 'A named session finds its folder again; unnamed clients do not share one.',
  },
  'offload.modes': {
    source: 'docs/offloading.md',
    says: 'Offloaded files are for their owner alone.',
  },
  'pty.terminal': {
    source: 'docs/interactive.md',
    says: 'With input: pty a program has a terminal for all three streams, in the size that was asked for.',
  },
  'pty.screen': {
    source: 'docs/interactive.md',
    says: 'What a terminal shows is given as a person would see it, with the cursor.',
  },
  'pty.screen.alternate': {
    source: 'docs/interactive.md',
    says: "A full-screen program's screen is shown while it runs, and what was there before once it has left.",
  },
  'pty.screen.wide': { source: 'docs/interactive.md', says: 'Wide characters take two cells, as programs count them.' },
  'pty.answers': {
    source: 'anthropics/claude-code#27401',
    says: 'A program that asks is answered, and ends with its exit code.',
  },
  'pty.password': {
    source: 'anthropics/claude-code#27401',
    says: 'What is typed at a password prompt is neither shown nor logged.',
  },
  'pty.keys': {
    source: 'docs/interactive.md',
    says: 'Named keys are pressed after the text; an unknown one is refused by name.',
  },
  'pty.keys.application': {
    source: 'docs/interactive.md',
    says: 'Cursor keys send what the program that runs has asked the terminal for.',
  },
  'pty.end-of-input': { source: 'docs/interactive.md', says: 'eof ends the input of a program in a terminal.' },
  'pty.resize': { source: 'docs/interactive.md', says: 'A terminal is resized while its program runs, and the program is told.' },
  'pty.foreground': {
    source: 'docs/interactive.md',
    says: 'A command in a terminal that is waited for gives its output as text, its exit code, and its state to the next one.',
  },
  'pty.never-hangs': {
    source: 'docs/interactive.md',
    says: 'A program that waits for its terminal holds up neither its own call nor another.',
  },
  'pty.kill': {
    source: 'docs/architecture.md: processes',
    says: 'A terminal that is killed takes all that was started in it along.',
  },
  'pty.kill.signal': { source: 'docs/interactive.md', says: 'A signal goes to what runs in the terminal, which may answer it.' },
  'pty.timeout': {
    source: 'docs/architecture.md: processes',
    says: 'A time limit ends a program in a terminal with all its processes.',
  },
  'pty.ends-with-client': {
    source: 'docs/architecture.md: life and death',
    says: 'A terminal of a stdio client ends with it.',
    not: { http: 'Over HTTP jobs outlive their client.' },
  },
  'pty.host-killed': {
    source: 'docs/interactive.md',
    says: 'After a kill of the host the next one shows the same screen and types on.',
    not: { http: 'Over HTTP a job outlives any host; the gateway is the same as on stdio.' },
  },
  'pty.gateway-killed': {
    source: 'docs/interactive.md',
    says: 'A terminal outlives the kill of its gateway: the next one shows the same screen, types on and resizes it.',
    only: {
      backends: ['local'],
      reason: 'elsewhere the environment ends with its gateway, or this host does not see that process',
    },
  },
  'pty.questions': {
    source: 'docs/interactive.md',
    says: 'A program that asks its terminal where the cursor is, and waits, gets the answer.',
  },
  'pty.two-hosts': { source: 'docs/interactive.md', says: 'Two clients see the same screen and type into the same terminal.' },
  'skills.own': {
    source: 'docs/skills.md',
    says: 'A new workspace has the skills that came with Atelier, each with a description.',
  },
  'skills.load': {
    source: 'agentscope-ai/agentscope#2283',
    says: 'A loaded skill gives its text, its directory and its files, and Bash and Read go on from there.',
  },
  'skills.archive': { source: 'docs/skills.md', says: 'Archives become skills; the very same skill is not added twice.' },
  'skills.archive.hostile': {
    source: 'openclaw/openclaw#9512',
    says: 'An archive that leads out, holds links, collides or lies about its size leaves nothing behind.',
  },
  'skills.header.hostile': {
    source: 'docs/skills.md',
    says: 'A header that is fatal to its parser harms neither the server nor other skills.',
  },
  'skills.reported': {
    source: 'docs/skills.md',
    says: 'An unusable skill is reported with file, rule and fix; an imperfect one loads with a warning.',
  },
  'skills.removed': { source: 'docs/skills.md', says: 'What an agent removed stays removed for its next client.' },
  'skills.private': { source: 'agentscope-ai/agentscope#2283', says: "One agent's skills are not another's." },
  'skills.paths': {
    source: 'docs/skills.md',
    says: 'The skills of skillPaths are there from the start, and may be added again.',
  },
  'skills.resources': { source: 'docs/skills.md', says: 'Skills are resources with an index; no URI leads out of a skill.' },
  'skills.extension': {
    source: 'modelcontextprotocol/modelcontextprotocol#2640',
    says: 'The skills extension is declared and served, with digests that hold.',
  },
  'skills.prompts': { source: 'docs/skills.md', says: 'Each skill is a prompt with arguments, and its name is completed.' },
  'skills.changed': { source: 'docs/skills.md', says: 'A client that was shown skills is told when they change on disk.' },
} satisfies Record<string, Requirement>
