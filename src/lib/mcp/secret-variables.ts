// Which variables of an MCP server are secrets: most are paths and switches, which belong in answers and in files.

const SECRET_NAME = /key|token|secret|pass|pwd|auth|cred|private|cookie|session|signature|dsn|_url$|^url$/i;
const SECRET_LOOKS = /^[A-Za-z0-9_.+=-]{20,}$|:\/\/[^/@\s]*:[^/@\s]+@/;

/** By its name or its looks. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_LOOKS.test(value);
}
