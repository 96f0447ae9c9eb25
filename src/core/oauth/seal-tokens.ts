// Tokens on their way into the database and out of it: each sealed for its tenant, agent and provider.
import { secretPlaceOf } from '../../lib/secrets/token-place.ts';
import type {
  Connection,
  ConnectionKey,
  RenewedTokens,
  SealedTokens,
} from '../../ports/oauth/connection-store.ts';
import type { GrantedTokens } from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';

type Field = keyof SealedTokens;

/** The share of a token's life after which it is refreshed, and by how much that differs from token to token. */
const REFRESH_AT = 0.75;
const REFRESH_JITTER = 0.1;

/**
 * `asked`: the scopes where the provider does not say which it granted; `kept`: the refresh token that stays good where it
 * gives no other, sealed.
 */
export async function sealedTokens(
  sealer: Pick<SecretSealer, 'seal'>,
  key: ConnectionKey,
  { accessToken, refreshToken, expiresInS, scopes }: GrantedTokens,
  { asked, kept }: { readonly asked: readonly string[]; readonly kept?: string | undefined },
  random: () => number,
): Promise<RenewedTokens> {
  const seal = (field: Field, text: string) => sealer.seal(text, secretPlaceOf(key, field));
  const refresh = refreshToken === undefined ? kept : await seal('refresh_token', refreshToken);
  const expiresInMs = expiresInS === undefined ? null : expiresInS * 1_000;
  const share = REFRESH_AT + random() * REFRESH_JITTER;
  return {
    scopes: scopes ?? asked,
    sealed: {
      access_token: await seal('access_token', accessToken),
      ...(refresh !== undefined && { refresh_token: refresh }),
    },
    expiresInMs,
    refreshInMs: expiresInMs === null ? null : expiresInMs * share,
  };
}

/** Undefined: there is none. Rejects with ToolFailure UNAVAILABLE: SECRETS_KEY_MISSING or SECRET_UNREADABLE. */
export async function openToken(
  sealer: Pick<SecretSealer, 'open'>,
  connection: Pick<Connection, 'tenantId' | 'agent' | 'provider' | 'sealed'>,
  field: Field,
): Promise<string | undefined> {
  const sealed = connection.sealed[field];
  return sealed === undefined ? undefined : sealer.open(sealed, secretPlaceOf(connection, field));
}
