// Reads the public keys of an issuer: where its discovery document says, or at the URL of the settings. Guarded and bounded.
import type { JWK } from 'jose';
import { egressFault, egressOf } from '../../lib/egress/egress.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { IssuerSettings } from '../../settings/auth-settings.ts';

const MOST_BYTES = 256 * 1024;
const MOST_KEYS = 100;
const WELL_KNOWN = '/.well-known/openid-configuration';
/** Parts of private keys: a set that holds one is published by mistake, and the key is anybody's. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Rejects with Error: a sentence for the operator. */
export async function fetchKeys(
  issuer: IssuerSettings,
  http: HttpClient,
  signal: AbortSignal,
): Promise<readonly JWK[]> {
  const { jwks_url: said, discovery_url: discovery = `${issuer.issuer.replace(/\/$/, '')}${WELL_KNOWN}` } =
    issuer;
  const entrance = new URL(said ?? discovery);
  const read = (url: URL) => readJson(url, { issuer, entrance, http, signal });
  const place = said === undefined ? keysPlace(await read(entrance), issuer) : entrance;
  return usableKeys(await read(place));
}

interface Reading {
  readonly issuer: IssuerSettings;
  /** Its host is reached, and those of allow_hosts. */
  readonly entrance: URL;
  readonly http: HttpClient;
  readonly signal: AbortSignal;
}

async function readJson(url: URL, { issuer, entrance, http, signal }: Reading): Promise<unknown> {
  const egress = egressOf(issuer, entrance);
  const fault = egressFault(egress, url);
  if (fault !== undefined)
    throw new Error(`${url.href} names a ${fault} that may not be reached: list it in allow_${fault}s`);
  const { status, body } = await http.request({
    method: 'GET',
    origin: url.origin,
    path: url.pathname + url.search,
    headers: { accept: 'application/json', 'user-agent': 'unified-tool-executor' },
    egress,
    maxResponseBytes: MOST_BYTES,
    signal,
  });
  if (status !== 200) throw new Error(`${url.href} answered with HTTP ${status}`);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error(`${url.href} answered with no JSON`);
  }
}

/** Another issuer's document would give that issuer's keys to this one's name. */
function keysPlace(document: unknown, { issuer, allow_http: allowHttp }: IssuerSettings): URL {
  const { issuer: own, jwks_uri: place } = membersOf(document);
  if (own !== issuer) throw new Error(`the discovery document is of another issuer than ${issuer}`);
  const url = typeof place === 'string' ? URL.parse(place) : null;
  if (url === null || !(url.protocol === 'https:' || (allowHttp && url.protocol === 'http:')))
    throw new Error('the discovery document names no https URL as its jwks_uri');
  return url;
}

/** Throws Error where none is left: an empty answer would refuse everybody, and says less than a withdrawn key. */
function usableKeys(document: unknown): readonly JWK[] {
  const { keys } = membersOf(document);
  if (!Array.isArray(keys) || keys.length > MOST_KEYS)
    throw new Error(`the key set is no object with a list of at most ${MOST_KEYS} keys`);
  const usable = keys.map(membersOf).filter(isPublicSigningKey);
  if (usable.length === 0) throw new Error('the key set holds no public key for signatures');
  return usable;
}

function isPublicSigningKey(key: Readonly<Record<string, unknown>>): boolean {
  const { kty, use } = key;
  const isPublic = !PRIVATE.some((part) => Object.hasOwn(key, part));
  return isPublic && ['RSA', 'EC', 'OKP'].includes(String(kty)) && (use === undefined || use === 'sig');
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
