import { type ErrorCode, WorkspaceError } from '../../lib/errors.ts'

interface Thrown {
  code?: string
  message: string
}

interface Kind {
  matches: RegExp
  code: ErrorCode
  why: string
  /** `folder` is where the certificates are looked for. */
  hint(folder: string): string
}

/** In this order; matched with the code and the words of an error. */
const KINDS: readonly Kind[] = [
  {
    matches: /_ALERT_\w*(CERTIFICATE|UNKNOWN_CA)|alert (bad |unsupported )?(certificate|unknown ca)/i,
    code: 'unauthenticated',
    why: "it does not accept this client's certificate",
    hint: folder => `Put cert.pem and key.pem that the engine's own authority has signed into ${folder}.`,
  },
  {
    matches: /HTTP request to an HTTPS server/,
    code: 'unauthenticated',
    why: 'it speaks TLS alone',
    hint: () => 'Set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or use a docker context with certificates.',
  },
  {
    matches: /wrong version number|packet length too long|EPROTO/i,
    code: 'unavailable',
    why: 'it does not speak TLS',
    hint: () => 'Unset DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or name the port on which it speaks TLS.',
  },
  {
    matches: /ERR_OSSL/,
    code: 'invalid_argument',
    why: 'its certificates here are of no use',
    hint: folder => `ca.pem, cert.pem and key.pem in ${folder} must be PEM files, and the key that of the certificate.`,
  },
  {
    matches: /certificate|CERT_|ERR_TLS|SELF_SIGNED|ISSUER|self.signed/,
    code: 'unavailable',
    why: 'its certificate is not accepted',
    hint: folder =>
      `ca.pem in ${folder} must be the authority of this very engine, and its certificate name the host as it is called here.`,
  },
]

/** What is wrong with the TLS of an engine, and what puts it right; `undefined` for an error that is about something else. */
export function tlsError(error: Thrown, what: string, { tlsFolder }: { tlsFolder?: string }): WorkspaceError | undefined {
  const kind = KINDS.find(({ matches }) => matches.test(`${error.code} ${error.message}`))
  if (kind === undefined) return undefined
  return new WorkspaceError(kind.code, `${what}: ${kind.why}: ${error.message.trim()}.`, {
    hint: kind.hint(tlsFolder ?? 'the folder of DOCKER_CERT_PATH'),
    cause: error,
  })
}
