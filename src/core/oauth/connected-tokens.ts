// ConnectedTokens: AgentTokens. A token that is good is in memory; one that ends soon is refreshed while it goes on in use.
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AgentTokens, TokenWanted } from '../../ports/oauth/agent-tokens.ts';
import type { ConnectionKey } from '../../ports/oauth/connection-store.ts';
import type { KnownConnection, KnownConnections } from '../../ports/oauth/known-connections.ts';
import type { OAuthProvider, OAuthProviders } from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import type { ConnectLinks } from './connect-links.ts';
import { openToken } from './seal-tokens.ts';
import { notNow, type TokenRefresh } from './token-refresh.ts';
import { missingOf } from './wanted-scopes.ts';

export interface ConnectedTokensNeeds {
  readonly known: KnownConnections;
  readonly providers: OAuthProviders;
  readonly refresh: Pick<TokenRefresh, 'refresh'>;
  readonly links: Pick<ConnectLinks, 'forCall'>;
  readonly sealer: Pick<SecretSealer, 'open'>;
  readonly clock: Clock;
}

/** A token that ends sooner might end on its way. */
const SKEW_MS = 5_000;
/** A call waits for a refresh no longer than this. */
const WAIT_MS = 12_000;
/** An upstream that refuses every token must not have every call fetch another one. */
const REFUSED_MS = 60_000;
const MOST_REFUSED = 10_000;

const MESSAGES = {
  NOT_CONNECTED: (provider: string) => `The agent has no account connected at "${provider}".`,
  NEEDS_REAUTH: (provider: string) => `The account of the agent at "${provider}" has to be connected again.`,
} as const satisfies Partial<Record<Reason, unknown>>;
type Needed = keyof typeof MESSAGES;

export class ConnectedTokens implements AgentTokens {
  readonly #needs: ConnectedTokensNeeds;
  /** By connection: which version an upstream did not take, and when. */
  readonly #refused = new Map<string, { readonly version: number; readonly at: number }>();

  constructor(needs: ConnectedTokensNeeds) {
    this.#needs = needs;
  }

  check(wanted: TokenWanted): void | Promise<void> {
    const key = keyOf(wanted);
    const known = this.#needs.known.peek(key);
    if (known !== undefined) return this.#checkKnown(wanted, known);
    return this.#needs.known.load(key).then(
      (loaded) => this.#checkKnown(wanted, loaded),
      // While nobody knows, the call goes on: it fails where it needs the token.
      () => undefined,
    );
  }

  async token(wanted: TokenWanted): Promise<string> {
    try {
      return await this.#token(wanted);
    } catch (error) {
      throw error instanceof ToolFailure ? beforeAnything(error) : error;
    }
  }

  refused(wanted: TokenWanted): void {
    const key = keyOf(wanted);
    const known = this.#needs.known.peek(key);
    if (!known) return;
    const text = JSON.stringify(key);
    const at = this.#needs.clock.now();
    const before = this.#refused.get(text);
    if (before !== undefined && at - before.at < REFUSED_MS) return;
    if (this.#refused.size >= MOST_REFUSED) this.#refused.clear();
    this.#refused.set(text, { version: known.connection.version, at });
  }

  #checkKnown(wanted: TokenWanted, known: KnownConnection | null): void | Promise<void> {
    const needed = this.#neededOf(wanted, known);
    if (needed !== undefined)
      return this.#failure(wanted, needed, known).then((failure) => Promise.reject(failure));
  }

  async #token(wanted: TokenWanted): Promise<string> {
    const { known: connections, sealer } = this.#needs;
    const key = keyOf(wanted);
    const known = connections.peek(key) ?? (await connections.load(key));
    const usable = await this.#usable(wanted, known);
    try {
      return await accessToken(sealer, usable);
    } catch (error) {
      // The secrets were brought over to another key meanwhile.
      if (!(error instanceof ToolFailure) || !isReason(error, 'SECRETS_KEY_MISSING')) throw error;
      return accessToken(sealer, await this.#usable(wanted, await connections.load(key)));
    }
  }

  async #usable(wanted: TokenWanted, known: KnownConnection | null): Promise<KnownConnection> {
    const needed = this.#neededOf(wanted, known);
    const provider = this.#needs.providers.find(wanted.auth.provider);
    if (needed !== undefined || known === null || provider === undefined)
      throw await this.#failure(wanted, needed ?? 'NOT_CONNECTED', known);
    const now = this.#needs.clock.now();
    const isGood =
      (known.expiresAt === undefined || now < known.expiresAt - SKEW_MS) && !this.#isRefused(known);
    const canRefresh = known.connection.sealed.refresh_token !== undefined;
    if (isGood) {
      if (canRefresh && known.refreshAt !== undefined && now >= known.refreshAt)
        this.#refresh(known, provider).catch(() => undefined);
      return known;
    }
    if (!canRefresh) return known;
    const renewed = await this.#waitFor(this.#refresh(known, provider));
    const missing = this.#neededOf(wanted, renewed);
    if (renewed === null || missing !== undefined)
      throw await this.#failure(wanted, missing ?? 'NOT_CONNECTED', renewed);
    return renewed;
  }

  #refresh({ connection }: KnownConnection, provider: OAuthProvider): Promise<KnownConnection | null> {
    return this.#needs.refresh.refresh(connection, provider);
  }

  /** The refresh goes on for those who come later. */
  #waitFor(refresh: Promise<KnownConnection | null>): Promise<KnownConnection | null> {
    const { promise, reject } = Promise.withResolvers<never>();
    const cancel = this.#needs.clock.after(WAIT_MS, () => reject(notNow()));
    return Promise.race([refresh, promise]).finally(cancel);
  }

  /** Undefined: nothing, as far as is known. */
  #neededOf({ auth }: TokenWanted, known: KnownConnection | null): Needed | undefined {
    const provider = this.#needs.providers.find(auth.provider);
    if (known === null || provider === undefined) return 'NOT_CONNECTED';
    const { connection, expiresAt } = known;
    // Those of another provider, or of another client, under the same name.
    if (connection.providerKey !== provider.key) return 'NEEDS_REAUTH';
    if (connection.state === 'needs_reauth') return 'NEEDS_REAUTH';
    if (missingOf(auth.scopes, connection.scopes).length > 0) return 'NEEDS_REAUTH';
    const hasEnded = expiresAt !== undefined && this.#needs.clock.now() >= expiresAt;
    return hasEnded && connection.sealed.refresh_token === undefined ? 'NEEDS_REAUTH' : undefined;
  }

  #isRefused({ connection }: KnownConnection): boolean {
    const { tenantId, agent, provider, version } = connection;
    return this.#refused.get(JSON.stringify({ tenantId, agent, provider }))?.version === version;
  }

  async #failure(wanted: TokenWanted, reason: Needed, known: KnownConnection | null): Promise<ToolFailure> {
    const { agent, auth, principal } = wanted;
    const { provider } = auth;
    const link = await this.#needs.links.forCall(keyOf(wanted), principal);
    const missing = known === null ? [] : missingOf(auth.scopes, known.connection.scopes);
    const path = `/v1/agents/${encodeURIComponent(agent)}/oauth/${encodeURIComponent(provider)}/authorize`;
    const message = MESSAGES[reason](provider);
    const follow = link === undefined ? '' : ' Somebody who may agree for that account follows the link.';
    return toolFailure(reason, `${message}${follow}`, {
      partialSideEffects: false,
      details: {
        provider,
        agent,
        authorize: { method: 'POST', path },
        ...(link !== undefined && {
          connect_url: link.url,
          connect_expires_at: link.expiresAt.toISOString(),
        }),
        ...(missing.length > 0 && { missing_scopes: [...missing] }),
      },
    });
  }
}

function keyOf({ tenantId, agent, auth }: TokenWanted): ConnectionKey {
  return { tenantId, agent, provider: auth.provider };
}

async function accessToken(
  sealer: Pick<SecretSealer, 'open'>,
  { connection }: KnownConnection,
): Promise<string> {
  const token = await openToken(sealer, connection, 'access_token');
  if (token === undefined) throw new Error('a connection without an access token was stored');
  return token;
}

/** Whatever keeps a token from being had, nothing was sent to the tool's upstream. */
function beforeAnything(failure: ToolFailure): ToolFailure {
  if (failure.partialSideEffects === false) return failure;
  const { type, message, reason, origin, retryable, retryAfterMs, details, cause } = failure;
  return new ToolFailure(type, message, {
    reason,
    origin,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    partialSideEffects: false,
    details,
    cause,
  });
}
