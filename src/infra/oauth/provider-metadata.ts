// What is known of an authorization server: from gateway.yaml, or from its discovery document, which is read anew at times.
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../ports/clock.ts';
import { oauthUrlProblem, type OAuthProviderSettings } from '../../settings/oauth-settings.ts';

export type Server = oauth.AuthorizationServer;

/** How long a discovery document is good. */
const FRESH_MS = 3_600_000;

export const REQUEST_TIMEOUT_MS = 10_000;

export interface MetadataNeeds {
  readonly settings: OAuthProviderSettings;
  /** Guarded. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

export class ProviderMetadata {
  readonly #needs: MetadataNeeds;
  #known: { readonly server: Server; readonly at: number } | undefined;
  #reading: Promise<Server> | undefined;

  constructor(needs: MetadataNeeds) {
    this.#needs = needs;
  }

  /** Rejects with Error, where nothing is known and it cannot be read now. */
  async server(): Promise<Server> {
    const { settings, clock } = this.#needs;
    const said = ofSettings(settings);
    if (said !== undefined) return said;
    const known = this.#known;
    if (known !== undefined && clock.now() - known.at < FRESH_MS) return known.server;
    try {
      return await (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
    } catch (error) {
      // What was true an hour ago is better than nothing.
      if (known !== undefined) return known.server;
      throw error;
    }
  }

  async #read(): Promise<Server> {
    const { settings, fetch, clock } = this.#needs;
    const issuer = new URL(settings.issuer ?? '');
    const response = await oauth.discoveryRequest(issuer, {
      [oauth.customFetch]: (...request) => fetch(...request),
      [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const found = await oauth.processDiscoveryResponse(issuer, response);
    const server = { ...found, ...endpointsOf(settings) };
    requireUsable(server);
    this.#known = { server, at: clock.now() };
    return server;
  }
}

/** Undefined: it has to be discovered. */
function ofSettings(settings: OAuthProviderSettings): Server | undefined {
  const { issuer, token_endpoint: token, authorization_endpoint: authorization } = settings;
  if (token === undefined || authorization === undefined) return undefined;
  return { issuer: issuer ?? new URL(token).origin, ...endpointsOf(settings) };
}

/** Those that are said stand before those of the document. */
function endpointsOf(settings: OAuthProviderSettings): Partial<Server> {
  const names = [
    'authorization_endpoint',
    'token_endpoint',
    'device_authorization_endpoint',
    'revocation_endpoint',
  ] as const;
  const said = names.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(said.map((name) => [name, settings[name]]));
}

/** A document may name any address: one in the clear, or a server that knows no PKCE with S256, is refused. */
function requireUsable(server: Server): void {
  for (const name of ['authorization_endpoint', 'token_endpoint'] as const) {
    const problem = oauthUrlProblem(server[name] ?? '');
    if (problem !== undefined) throw new Error(`the discovery document's ${name} ${problem}`);
  }
  for (const name of ['device_authorization_endpoint', 'revocation_endpoint'] as const) {
    const said = server[name];
    const problem = said === undefined ? undefined : oauthUrlProblem(said);
    if (problem !== undefined) throw new Error(`the discovery document's ${name} ${problem}`);
  }
  const methods = server.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes('S256'))
    throw new Error('the provider does not take PKCE challenges with S256');
}
