// Addresses of mail: the plain form alone. No quoted local parts, comments, routes or address literals: what reads them, and in
// which way, differs from server to server, and an allow-list is worth what everybody reads the same. For the same reason no `%` and
// `!`, by which some servers pass a message on to another domain, no `|`, which some give to a program, and no encoded word.
import { domainToASCII } from 'node:url';

const LOCAL = /^(?!.*=\?)[A-Za-z0-9#$&'*+/=?^_`{}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{}~-]+)*$/;
/** Before it is made ASCII: what a URL parser would take for a part of something else, or for nothing. */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MOST_LOCAL = 64;
const MOST = 254;

export interface MailAddress {
  /** ASCII: the domain in lower case, as in the DNS. */
  readonly address: string;
  readonly domain: string;
}

/** Undefined: it is none. */
export function parseAddress(text: string): MailAddress | undefined {
  if (text.length > MOST) return undefined;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (local.length > MOST_LOCAL || !LOCAL.test(local)) return undefined;
  const domain = parseDomain(text.slice(at + 1));
  if (domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  return address.length > MOST ? undefined : { address, domain };
}

/** In ASCII and lower case; undefined: it is no domain. */
export function parseDomain(text: string): string | undefined {
  if (text.length > MOST || !WRITTEN_DOMAIN.test(text)) return undefined;
  const domain = domainToASCII(text);
  const labels = domain.split('.');
  // A last label of digits would be an address to some.
  const isDomain = labels.every((label) => LABEL.test(label)) && /[a-z]/.test(labels.at(-1) ?? '');
  return isDomain && domain.length <= 253 ? domain : undefined;
}
