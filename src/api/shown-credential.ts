// The credential that headers or metadata show: one, or several that say the same.
import type { ClientAddress, Credential } from '../contract/call/principal.ts';

/** HTTP joins what a header says twice. No credential holds a comma. */
const JOINED = /, */;

/** `Bearer` with no token behind it, or nothing at all: clients write it where they have no key, and guess at none. */
const EMPTY = /^(?:bearer)?\s*$/i;

/** Undefined: none. An authorization of another scheme is a wrong credential, not a missing one. */
export function shownCredential(
  authorizations: readonly string[],
  keys: readonly string[],
  from: ClientAddress | undefined,
): Credential | undefined {
  const [first, ...others] = [
    ...authorizations.filter((said) => !EMPTY.test(said)).map(bearerToken),
    ...keys.flatMap((said) => said.split(JOINED)).filter((key) => key.trim() !== ''),
  ];
  if (first === undefined) return undefined;
  const where = from === undefined ? {} : { from };
  return others.every((each) => each === first)
    ? { kind: 'bearer', token: first, ...where }
    : { kind: 'several', ...where };
}

/** For a second look at the same credential: as one from an address, it would count twice among the wrong ones from there. */
export function withoutAddress(credential: Credential): Credential {
  if (credential.kind === 'bearer') return { kind: 'bearer', token: credential.token };
  return credential.kind === 'several' ? { kind: 'several' } : credential;
}

function bearerToken(said: string): string {
  const bearer = /^bearer +/i.exec(said);
  return bearer === null ? '' : said.slice(bearer[0].length).trim();
}
