// Which values around an MCP server are secrets: most are paths and switches, which belong in answers and in files.

const SECRET_NAME = /key|token|secret|pass|pwd|auth|cred|private|cookie|session|signature|dsn/i;
const HAS_URL = /_url$|^url$/i;
const SECRET_LOOKS = /^[A-Za-z0-9_.+=-]{20,}$|:\/\/[^/@\s]*:[^/@\s]+@/;

/** By its name or its looks. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || HAS_URL.test(name) || SECRET_LOOKS.test(value);
}

/** That of an option, a header or a member: what it names is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** As those who give them out begin them. */
const KNOWN =
  /(?:^|[^A-Za-z0-9])(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abpors]|xapp|npm|hf|tvly|dop_v1|shpat|figd|ntn|secret|ya29|pat|lin_api)[-_.][A-Za-z0-9_.-]{6,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\beyJ[\w-]{6,}\.|-----BEGIN/;
/** In the text of a URL, a connection string, JSON or a DSN. */
const INSIDE =
  /:\/\/[^/\s]*@|\b(?:bearer|basic)\s+\S|(?:key|token|secret|pass|passw|password|passwd|pwd|auth|authorization|credentials?|cookie|session|signature)["']?\s*[=:]\s*["']?[^\s"'&,;}]/i;
/** Words of a language, and names made of them. */
const WORDS = /^[A-Za-z]{1,15}(?:[-_.=+]+[A-Za-z]{0,15})*$/;
/** Of base64 in its other alphabet, which a path rarely looks like. */
const BASE64 = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{24,}={0,2}$/;
const PATH = /^(?:~|\.{1,2})?\/[^\0]*$/;

/** Whether a text is a secret or holds one, by its looks alone. */
export function hasSecret(text: string): boolean {
  if (KNOWN.test(text) || INSIDE.test(text) || BASE64.test(text)) return true;
  // Names in a path and of a host are as long, and no secrets.
  if (PATH.test(text)) return false;
  return text
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*/gi, ' ')
    .split(/[^A-Za-z0-9_.+=-]+/)
    .some((part) => part.length >= 20 && !WORDS.test(part));
}
