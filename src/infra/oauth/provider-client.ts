// ProviderClient: OAuthProvider over oauth4webapi. Whatever it asks goes over guarded connections, bounded in size and time.
import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { egressOf } from '../../lib/egress/egress.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import {
  GrantRefused,
  type AuthorizationRequest,
  type CallbackAnswer,
  type DeviceGrant,
  type GrantedTokens,
  type OAuthProvider,
} from '../../ports/oauth/oauth-provider.ts';
import { oauthUrlProblem, type OAuthProviderSettings } from '../../settings/oauth-settings.ts';
import { ProviderMetadata, REQUEST_TIMEOUT_MS, type Server } from './provider-metadata.ts';
import { codeOf, grantedTokens, oauthFailure } from './token-failures.ts';

export interface ProviderClientNeeds {
  readonly name: string;
  readonly settings: OAuthProviderSettings;
  /** What the reference in the settings holds. */
  readonly clientSecret: string | undefined;
  readonly http: HttpClient;
  readonly clock: Clock;
}

const MOST_ANSWER_BYTES = 64 * 1024;
const LEAST_DEVICE_INTERVAL_S = 5;
const MOST_DEVICE_INTERVAL_S = 60;
const MOST_DEVICE_LIFE_S = 1_800;
const USER_CODE = /^[\x20-\x7e]{1,64}$/;

export class ProviderClient implements OAuthProvider {
  readonly name: string;
  readonly key: string;
  readonly scopes: readonly string[];
  readonly #settings: OAuthProviderSettings;
  readonly #metadata: ProviderMetadata;
  readonly #client: oauth.Client;
  readonly #authentication: oauth.ClientAuth;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ name, settings, clientSecret, http, clock }: ProviderClientNeeds) {
    this.name = name;
    this.#settings = settings;
    this.scopes = settings.scopes;
    this.key = keyOf(settings);
    this.#fetch = http.fetch(egressOfProvider(settings), MOST_ANSWER_BYTES);
    this.#metadata = new ProviderMetadata({ settings, fetch: this.#fetch, clock });
    this.#client = { client_id: settings.client_id };
    this.#authentication = authenticationOf(settings, clientSecret);
  }

  async authorizationUrl({ redirectUri, state, verifier, scopes }: AuthorizationRequest): Promise<URL> {
    const { authorization_endpoint: endpoint = '' } = await this.#server();
    const url = new URL(endpoint);
    const { client_id: id, authorization_parameters: more } = this.#settings;
    const parameters = {
      ...more,
      response_type: 'code',
      client_id: id,
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  async exchange({ parameters, state, redirectUri, verifier }: CallbackAnswer): Promise<GrantedTokens> {
    const server = await this.#server();
    try {
      const answer = oauth.validateAuthResponse(server, this.#client, parameters, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.#client,
        this.#authentication,
        answer,
        redirectUri,
        verifier,
        this.#options(server.token_endpoint),
      );
      return grantedTokens(await oauth.processAuthorizationCodeResponse(server, this.#client, response));
    } catch (error) {
      if (error instanceof oauth.AuthorizationResponseError) throw new GrantRefused(wordOf(error.error));
      if (error instanceof oauth.OperationProcessingError && error.code === oauth.INVALID_RESPONSE)
        throw new GrantRefused('invalid_response');
      throw oauthFailure(error);
    }
  }

  async refresh(refreshToken: string): Promise<GrantedTokens> {
    const server = await this.#server();
    return this.#tokens(async () => {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        this.#client,
        this.#authentication,
        refreshToken,
        this.#options(server.token_endpoint),
      );
      return oauth.processRefreshTokenResponse(server, this.#client, response);
    });
  }

  async startDevice(scopes: readonly string[]): Promise<DeviceGrant | undefined> {
    const server = await this.#server();
    if (server.device_authorization_endpoint === undefined) return undefined;
    try {
      const parameters = new URLSearchParams(scopes.length > 0 ? { scope: scopes.join(' ') } : {});
      const response = await oauth.deviceAuthorizationRequest(
        server,
        this.#client,
        this.#authentication,
        parameters,
        this.#options(server.device_authorization_endpoint),
      );
      return deviceGrant(await oauth.processDeviceAuthorizationResponse(server, this.#client, response));
    } catch (error) {
      throw oauthFailure(error);
    }
  }

  async pollDevice(deviceCode: string): Promise<GrantedTokens | 'pending' | 'slow_down'> {
    const server = await this.#server();
    try {
      const response = await oauth.deviceCodeGrantRequest(
        server,
        this.#client,
        this.#authentication,
        deviceCode,
        this.#options(server.token_endpoint),
      );
      return grantedTokens(await oauth.processDeviceCodeResponse(server, this.#client, response));
    } catch (error) {
      const code = codeOf(error);
      if (code === 'authorization_pending') return 'pending';
      if (code === 'slow_down') return 'slow_down';
      throw oauthFailure(error);
    }
  }

  async revoke(token: string): Promise<boolean> {
    const server = await this.#server();
    const { revocation_endpoint: endpoint } = server;
    if (endpoint === undefined) return false;
    try {
      const options = this.#options(endpoint);
      const response = await oauth.revocationRequest(
        server,
        this.#client,
        this.#authentication,
        token,
        options,
      );
      await oauth.processRevocationResponse(response);
      return true;
    } catch (error) {
      throw oauthFailure(error);
    }
  }

  async #tokens(ask: () => Promise<oauth.TokenEndpointResponse>): Promise<GrantedTokens> {
    try {
      return grantedTokens(await ask());
    } catch (error) {
      throw oauthFailure(error);
    }
  }

  async #server(): Promise<Server> {
    try {
      return await this.#metadata.server();
    } catch (error) {
      throw oauthFailure(error);
    }
  }

  #options(endpoint: string | undefined) {
    return {
      [oauth.customFetch]: (...request: Parameters<typeof fetch>) => this.#fetch(...request),
      // Settings and documents are held to https; http is for loopback alone.
      [oauth.allowInsecureRequests]: endpoint?.startsWith('http:') === true,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    };
  }
}

function authenticationOf(
  { token_endpoint_auth_method: method }: OAuthProviderSettings,
  secret: string | undefined,
): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  return method === 'client_secret_post' ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** The hosts that are said, or those of the addresses that are. */
function egressOfProvider(settings: OAuthProviderSettings) {
  const {
    issuer,
    token_endpoint: token,
    device_authorization_endpoint: device,
    revocation_endpoint: end,
  } = settings;
  const said = [issuer, token, device, end].filter((url) => url !== undefined).map((url) => new URL(url));
  const policies = said.map((url) => egressOf(settings, url));
  const [first] = policies;
  if (first === undefined) throw new Error('a provider without an address passed its check');
  return { ...first, allowHosts: [...new Set(policies.flatMap(({ allowHosts }) => allowHosts))] };
}

function keyOf({ issuer, token_endpoint: token, client_id: id }: OAuthProviderSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer ?? token, id]))
    .digest('hex');
}

function wordOf(error: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(error) ? error : 'other';
}

/** A human is sent where it says: to a web page, and nowhere else. */
function deviceGrant(answer: oauth.DeviceAuthorizationResponse): DeviceGrant {
  const { verification_uri: uri, verification_uri_complete: complete, interval } = answer;
  const bad = [uri, complete].find((each) => each !== undefined && oauthUrlProblem(each) !== undefined);
  if (bad !== undefined || !USER_CODE.test(answer.user_code))
    throw new Error('the device authorization of the provider holds no usable address or code');
  return {
    deviceCode: answer.device_code,
    userCode: answer.user_code,
    // As a URL writes it: what turns text around or moves a terminal's cursor is percent-encoded.
    verificationUri: new URL(uri).href,
    verificationUriComplete: complete && new URL(complete).href,
    expiresInS: Math.min(Math.max(1, answer.expires_in), MOST_DEVICE_LIFE_S),
    intervalS: Math.min(Math.max(LEAST_DEVICE_INTERVAL_S, interval ?? 0), MOST_DEVICE_INTERVAL_S),
  };
}
