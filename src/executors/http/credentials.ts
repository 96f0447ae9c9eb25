// Credentials of a connection: what is known at load goes into the compiled request, a token is added as it is sent;
// and everything secret among it is kept out of what comes back.
import {
  callScrubber,
  SECRET_MARK,
  secretScrubber,
  type SecretScrubber,
} from '../../lib/secrets/scrub-secrets.ts';
import type { RequestBase } from './request/compile-request.ts';
import type { HttpAuth, HttpConnection } from './connection-schema.ts';
import type { AccessToken, TokenSource } from './oauth-token.ts';

/** What one request is sent with. */
export interface Authorization {
  readonly headers: { readonly [name: string]: string };
  readonly scrubber: SecretScrubber;
  readonly token?: AccessToken;
}

export class Credentials {
  static #none: Credentials | undefined;
  readonly #secrets: readonly string[];
  readonly #fixed: Authorization;
  readonly #tokens: TokenSource | undefined;
  /** Made once for each token. */
  #latest: Authorization | undefined;

  private constructor(secrets: readonly string[], tokens?: TokenSource) {
    this.#secrets = secrets;
    this.#tokens = tokens;
    this.#fixed = { headers: {}, scrubber: secretScrubber(secrets) };
  }

  /** Of requests without any, as those of a public API, all have the same. */
  static of(secrets: readonly string[], tokens?: TokenSource): Credentials {
    if (secrets.length > 0 || tokens !== undefined) return new Credentials(secrets, tokens);
    return (Credentials.#none ??= new Credentials([]));
  }

  /** Undefined where a token must be asked for. */
  get fixed(): Authorization | undefined {
    return this.#tokens === undefined ? this.#fixed : undefined;
  }

  /** Without a token: what scrubs a failure to get one. */
  get scrubber(): SecretScrubber {
    return this.#fixed.scrubber;
  }

  async authorize(signal: AbortSignal): Promise<Authorization> {
    if (this.#tokens === undefined) return this.#fixed;
    const token = await this.#tokens.get(signal);
    if (this.#latest?.token === token) return this.#latest;
    const scrubber = await callScrubber([...this.#secrets, token.value]);
    this.#latest = { token, headers: { authorization: `Bearer ${token.value}` }, scrubber };
    return this.#latest;
  }

  /** The upstream answered 401. True if another try, with a fresh token, may end better. */
  refused({ token }: Authorization): boolean {
    return token !== undefined && this.#tokens !== undefined && this.#tokens.refused(token);
  }
}

/** The base of requests with what is known at load of the connection's secrets in it. */
export function baseOf({ base_url: baseUrl, headers = {}, auth }: HttpConnection): RequestBase {
  const { secrets: _, headers: added, ...rest } = partsOf(auth);
  return { url: new URL(baseUrl), headers: { ...headers, ...added }, ...rest };
}

/** The same base for showing: a mark in the place of every value that the connection brings. */
export function maskedBase({ url, headers, query, laterHeader }: RequestBase): RequestBase {
  const names = [...Object.keys(headers), ...(laterHeader === undefined ? [] : [laterHeader])];
  return {
    url,
    headers: Object.fromEntries(names.map((name) => [name, SECRET_MARK])),
    ...(query === undefined ? {} : { query: { name: query.name, value: SECRET_MARK } }),
  };
}

/** Header values that may well be part of an honest answer. */
const NOT_SECRET = /^(?:accept(?:-.*)?|user-agent|content-type|prefer|cache-control|.*version)$/i;

export function secretsOf({ headers = {}, auth }: HttpConnection): readonly string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    // "Bearer x" comes back as x, too.
    if (!NOT_SECRET.test(name)) secrets.push(value, ...value.split(/[\s;,]+/).slice(1));
  }
  return [...secrets, ...partsOf(auth).secrets];
}

/** What an `auth` adds to requests, and what of it is secret. */
function partsOf(
  auth: HttpAuth | undefined,
): Partial<Omit<RequestBase, 'url'>> & { readonly secrets: readonly string[] } {
  if (auth === undefined) return { secrets: [] };
  if (auth.type === 'bearer') {
    return { headers: { authorization: `Bearer ${auth.token}` }, secrets: [auth.token] };
  }
  if (auth.type === 'basic') {
    const pair = Buffer.from(`${auth.username}:${auth.password}`, 'utf8').toString('base64');
    return { headers: { authorization: `Basic ${pair}` }, secrets: [auth.password, pair] };
  }
  if (auth.type === 'api_key') {
    const { in: place, name, value } = auth;
    return place === 'header'
      ? { headers: { [name]: value }, secrets: [value] }
      : { query: { name, value: encodeURIComponent(value) }, secrets: [value] };
  }
  return { laterHeader: 'authorization', secrets: [auth.client_secret] };
}
