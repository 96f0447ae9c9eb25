// Access tokens by OAuth 2.0 client credentials: fetched once for everybody, renewed before they end.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import * as oauth from 'oauth4webapi';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ClientCredentials } from './connection-schema.ts';

export interface AccessToken {
  readonly value: string;
  /** Epoch milliseconds. */
  readonly refreshAt: number;
  readonly expiresAt: number;
}

export interface TokenSourceNeeds {
  /** Already held to the connection's egress policy. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  /** From 0 to 1; spreads the renewals of many gateways. */
  readonly random?: () => number;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** Where the provider does not say how long a token lives. */
const DEFAULT_LIFE_S = 300;
const MAX_LIFE_S = 86_400;
/** After a failure, or after a token that the upstream refused, the token endpoint is left alone for so long. */
const PAUSE_MS = 10_000;

export class TokenSource {
  readonly #settings: ClientCredentials;
  readonly #needs: TokenSourceNeeds;
  #current: AccessToken | undefined;
  #flight: Promise<AccessToken> | undefined;
  #failure: { readonly error: ToolFailure; readonly until: number } | undefined;
  #lastRefusalAt = Number.NEGATIVE_INFINITY;

  constructor(settings: ClientCredentials, needs: TokenSourceNeeds) {
    this.#settings = settings;
    this.#needs = needs;
  }

  /** Throws ToolFailure UNAVAILABLE, reason CREDENTIALS_REFUSED or TOKEN_UNAVAILABLE. */
  async get(signal: AbortSignal): Promise<AccessToken> {
    const now = this.#needs.clock.now();
    const current = this.#current;
    if (current !== undefined && now < current.refreshAt) return current;
    const paused = this.#failure !== undefined && now < this.#failure.until;
    if (current !== undefined && now < current.expiresAt) {
      // Good for a while: whoever asks now need not wait. A failure shows once the token has ended.
      if (!paused) this.#refresh().catch(() => {});
      return current;
    }
    if (paused && this.#failure !== undefined) throw this.#failure.error;
    return orAborted(this.#refresh(), signal);
  }

  /** The upstream refused this token. True if a fresh one is worth a try. */
  refused(token: AccessToken): boolean {
    if (this.#current !== token) return true;
    const now = this.#needs.clock.now();
    // An upstream that refuses every token must not make every call ask for one.
    if (now - this.#lastRefusalAt < PAUSE_MS) return false;
    this.#lastRefusalAt = now;
    this.#current = undefined;
    return true;
  }

  #refresh(): Promise<AccessToken> {
    this.#flight ??= this.#request().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  async #request(): Promise<AccessToken> {
    const { clock, random = Math.random } = this.#needs;
    try {
      const { access_token: value, expires_in: said = DEFAULT_LIFE_S } = await this.#grant();
      const now = clock.now();
      const lifeMs = Math.min(said, MAX_LIFE_S) * 1000;
      this.#current = { value, refreshAt: now + lifeMs * (0.75 + random() * 0.1), expiresAt: now + lifeMs };
      this.#failure = undefined;
      return this.#current;
    } catch (error) {
      const failure = failureOf(error);
      this.#failure = { error: failure, until: clock.now() + PAUSE_MS };
      throw failure;
    }
  }

  async #grant(): Promise<oauth.TokenEndpointResponse> {
    const {
      token_url: url,
      client_id: id,
      client_secret: secret,
      scopes = [],
      audience,
      send_secret_in: place,
    } = this.#settings;
    const server: oauth.AuthorizationServer = { issuer: new URL(url).origin, token_endpoint: url };
    const client: oauth.Client = { client_id: id };
    const parameters = new URLSearchParams();
    if (scopes.length > 0) parameters.set('scope', scopes.join(' '));
    if (audience !== undefined) parameters.set('audience', audience);
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      place === 'body' ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret),
      parameters,
      {
        [oauth.customFetch]: (...request) => this.#needs.fetch(...request),
        // The connection's schema lets http through for loopback alone.
        [oauth.allowInsecureRequests]: url.startsWith('http:'),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      },
    );
    return oauth.processClientCredentialsResponse(server, client, response);
  }
}

/** Errors that say that the provider does not take these credentials: asking again changes nothing. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'invalid_grant',
]);

function failureOf(error: unknown): ToolFailure {
  if (error instanceof ToolFailure && isReason(error, 'EGRESS_DENIED')) return error;
  const said = error instanceof oauth.ResponseBodyError ? error.error : undefined;
  const challenged = error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401;
  if (challenged || (said !== undefined && REFUSALS.has(said))) {
    return toolFailure(
      'CREDENTIALS_REFUSED',
      `The token endpoint refused the gateway's own credentials (${said ?? 'HTTP 401'}): an operator has to set them right.`,
      { retryable: false, partialSideEffects: false, cause: causeOf(error) },
    );
  }
  return toolFailure('TOKEN_UNAVAILABLE', 'No access token could be had for the upstream.', {
    partialSideEffects: false,
    cause: causeOf(error),
  });
}

/** Its words alone: the library's errors carry the whole answer, which may hold a token. */
function causeOf(error: unknown): Error {
  if (error instanceof ToolFailure) return error;
  return new Error(error instanceof Error ? error.message : 'The token request failed.');
}

/** The request goes on for the others when one of those that wait for it has gone. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
