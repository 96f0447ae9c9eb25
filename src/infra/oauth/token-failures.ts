// What becomes of an authorization server's answers: tokens that can be sent, a refusal that ends a grant, or a failure to ask.
import * as oauth from 'oauth4webapi';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { GrantRefused, type GrantedTokens } from '../../ports/oauth/oauth-provider.ts';

const MOST_TOKEN_CHARACTERS = 16_384;
const MOST_LIFE_S = 366 * 86_400;
const MOST_SCOPES = 500;
/** RFC 6749, 3.3: people read them on pages and in terminals. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;
/** It goes into a header: nothing in it may end one. */
const TOKEN = /^[\x21-\x7e]+$/;
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;

/** Errors that end a grant: neither asking again nor another secret of the gateway helps. */
const ENDED: ReadonlySet<string> = new Set(['invalid_grant', 'access_denied', 'expired_token']);
/** Errors that say that the provider does not take what gateway.yaml says. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
  'invalid_request',
]);

/** Throws Error for what cannot be a token. */
export function grantedTokens(answer: oauth.TokenEndpointResponse): GrantedTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: said, scope } = answer;
  if (answer.token_type !== 'bearer') throw new Error('the token is no bearer token');
  requireToken(accessToken);
  if (refreshToken !== undefined) requireToken(refreshToken);
  return {
    accessToken,
    refreshToken,
    expiresInS:
      said === undefined || !Number.isFinite(said) ? undefined : Math.min(Math.max(0, said), MOST_LIFE_S),
    scopes: scope === undefined ? undefined : scopesOf(scope),
  };
}

export function scopesOf(text: string): readonly string[] {
  const scopes = text.split(/[ ,]+/).filter((each) => SCOPE.test(each));
  return [...new Set(scopes)].slice(0, MOST_SCOPES);
}

function requireToken(token: string): void {
  if (token.length > MOST_TOKEN_CHARACTERS) throw new Error('a token of the provider is too long');
  if (!TOKEN.test(token)) throw new Error('a token of the provider holds characters that no token may');
}

/** GrantRefused, or a ToolFailure. What the provider said besides its code goes nowhere: its answer may hold a token. */
export function oauthFailure(error: unknown): Error {
  if (error instanceof ToolFailure && isReason(error, 'EGRESS_DENIED')) return error;
  const code = codeOf(error);
  if (code !== undefined && ENDED.has(code)) return new GrantRefused(code);
  const challenged = error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401;
  if (challenged || (code !== undefined && REFUSED.has(code)))
    return toolFailure(
      'CREDENTIALS_REFUSED',
      `The provider does not take what gateway.yaml says of this gateway (${code ?? 'HTTP 401'}): an operator has to set it right.`,
      { retryable: false, partialSideEffects: false, cause: causeOf(error) },
    );
  return toolFailure('TOKEN_UNAVAILABLE', 'The provider of the account cannot be asked now.', {
    retryAfterMs: 5_000,
    partialSideEffects: false,
    cause: causeOf(error),
  });
}

/** The word of an OAuth error; undefined: it is none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof oauth.ResponseBodyError)) return undefined;
  return CODE.test(error.error) ? error.error : 'other';
}

/** Its words alone: the library's errors carry the whole answer. */
function causeOf(error: unknown): Error {
  if (error instanceof ToolFailure) return error;
  return new Error(error instanceof Error ? error.message : 'The request failed.');
}
