// OAuthProvider: an authorization server of gateway.yaml, and what is asked of it. Every request to it is guarded and bounded.

/** Tokens as a provider gives them, checked: one line of printable ASCII each. */
export interface GrantedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** How long the access token is good; undefined: the provider does not say. */
  readonly expiresInS: number | undefined;
  /** Undefined: those that were asked for. */
  readonly scopes: readonly string[] | undefined;
}

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  /** The PKCE verifier, of which the provider sees the S256 challenge. */
  readonly verifier: string;
  readonly scopes: readonly string[];
}

export interface CallbackAnswer {
  /** All that the browser brought back, as it stands. */
  readonly parameters: URLSearchParams;
  readonly state: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

export interface DeviceGrant {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | undefined;
  readonly expiresInS: number;
  readonly intervalS: number;
}

/** The provider said no, by one of its own words: the code or the refresh token is of no use any more. */
export class GrantRefused extends Error {
  /** An `error` of RFC 6749 or RFC 8628, or another word that is no longer than 64 characters. */
  readonly code: string;

  constructor(code: string) {
    super(`the provider answered ${code}`);
    this.name = 'GrantRefused';
    this.code = code;
  }
}

/**
 * Requests reject with GrantRefused, or with ToolFailure UNAVAILABLE: TOKEN_UNAVAILABLE where the provider cannot be asked
 * now, CREDENTIALS_REFUSED where it does not take the gateway's own credentials.
 */
export interface OAuthProvider {
  readonly name: string;
  /** Of who it is and as whom the gateway is known there: tokens of another key belong to somebody else. */
  readonly key: string;
  /** Asked for at every connection. */
  readonly scopes: readonly string[];
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  exchange(answer: CallbackAnswer): Promise<GrantedTokens>;
  refresh(refreshToken: string): Promise<GrantedTokens>;
  /** Undefined: the provider has no device flow. */
  startDevice(scopes: readonly string[]): Promise<DeviceGrant | undefined>;
  /** `slow_down`: the pause between two questions is 5 s longer from now on. */
  pollDevice(deviceCode: string): Promise<GrantedTokens | 'pending' | 'slow_down'>;
  /** True: the provider has taken the token back. False: it has no way to. */
  revoke(token: string): Promise<boolean>;
}

export interface OAuthProviders {
  find(name: string): OAuthProvider | undefined;
  readonly names: readonly string[];
}
