// TokenRefresh: a fresh token for a connection, by one replica alone. A rotated refresh token is stored before anything is used.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { backoffMs } from '../../lib/timers/backoff.ts';
import { pause } from '../../lib/timers/pause.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Connection, ConnectionStore } from '../../ports/oauth/connection-store.ts';
import type { KnownConnection, KnownConnections } from '../../ports/oauth/known-connections.ts';
import { GrantRefused, type GrantedTokens, type OAuthProvider } from '../../ports/oauth/oauth-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Labelled } from '../../ports/telemetry/metrics.ts';
import { openToken, sealedTokens } from './seal-tokens.ts';

export interface TokenRefreshNeeds {
  readonly store: Pick<ConnectionStore, 'claim' | 'renew' | 'release' | 'expire'>;
  readonly known: KnownConnections;
  readonly sealer: SecretSealer;
  readonly clock: Clock;
  readonly log: Log;
  /** By provider and outcome: refreshed, needs_reauth, failed, lost. */
  readonly outcomes: Labelled<Counter>;
  readonly random: () => number;
}

/** Longer than a request to the provider may take: whoever comes after it has ended comes to a dead replica's. */
const LEASE_MS = 60_000;
const WAIT_MS = 12_000;
const LAST_MS = 2_000;
const LOOK_MS = 200;
const STORE_AGAIN = { firstMs: 250, lastMs: 5_000 };
/** After a failure the provider is left alone for so long. */
const PAUSE_MS = 10_000;

export class TokenRefresh {
  readonly #needs: TokenRefreshNeeds;
  readonly #flights = new Map<string, Promise<KnownConnection | null>>();
  readonly #failures = new Map<string, { readonly error: unknown; readonly until: number }>();
  readonly #stop = new AbortController();

  constructor(needs: TokenRefreshNeeds) {
    this.#needs = needs;
  }

  /** What was fetched already gets a moment to be stored: a rotated refresh token is there once. */
  async stop(): Promise<void> {
    const { clock } = this.#needs;
    if (this.#flights.size > 0)
      await settledWithin(clock, LAST_MS, Promise.allSettled(this.#flights.values()));
    this.#stop.abort();
  }

  /**
   * The connection with another token than this one, whoever fetched it; null: it is not there any more. Rejects with
   * ToolFailure UNAVAILABLE. One for everybody in this process who asks meanwhile.
   */
  refresh(connection: Connection, provider: OAuthProvider): Promise<KnownConnection | null> {
    const text = JSON.stringify([connection.tenantId, connection.agent, connection.provider]);
    const failure = this.#failures.get(text);
    if (failure !== undefined && this.#needs.clock.now() < failure.until)
      return Promise.reject(failure.error);
    let flight = this.#flights.get(text);
    if (flight === undefined) {
      flight = this.#refreshed(connection, provider).then(
        (known) => {
          this.#failures.delete(text);
          return known;
        },
        (error: unknown) => {
          this.#remember(text, error);
          throw error;
        },
      );
      this.#flights.set(text, flight);
      flight.finally(() => this.#flights.delete(text)).catch(() => undefined);
    }
    return flight;
  }

  #remember(text: string, error: unknown): void {
    const now = this.#needs.clock.now();
    for (const [other, { until }] of this.#failures) if (until <= now) this.#failures.delete(other);
    this.#failures.set(text, { error, until: now + PAUSE_MS });
  }

  async #refreshed(connection: Connection, provider: OAuthProvider): Promise<KnownConnection | null> {
    const { store, clock } = this.#needs;
    const until = clock.now() + WAIT_MS;
    while (!(await store.claim(connection, connection.version, LEASE_MS))) {
      // Another replica has it, or has done it by now.
      const current = await this.#needs.known.load(connection);
      if (current === null || current.connection.version !== connection.version) return current;
      if (clock.now() >= until || this.#stop.signal.aborted) throw notNow();
      await pause(clock, LOOK_MS, this.#stop.signal);
    }
    return this.#ask(connection, provider);
  }

  /** This replica alone has the right to. */
  async #ask(connection: Connection, provider: OAuthProvider): Promise<KnownConnection | null> {
    const { store, sealer, log } = this.#needs;
    const { version } = connection;
    let granted: GrantedTokens;
    try {
      const refreshToken = await openToken(sealer, connection, 'refresh_token');
      if (refreshToken === undefined) throw notNow();
      granted = await provider.refresh(refreshToken);
    } catch (error) {
      if (error instanceof GrantRefused) return this.#ended(connection, error);
      this.#count(connection, 'failed');
      const { tenantId, agent, provider: name } = connection;
      log.warn(
        { err: error, tenant: tenantId, agent, provider: name },
        'a token of an agent could not be refreshed: it stays in use until it ends',
      );
      await store.release(connection, version, problemOf(error)).catch(() => undefined);
      throw error;
    }
    const known = await this.#stored(connection, granted);
    // Disconnected meanwhile: what was revoked then was the token before this one.
    if (known === null) await provider.revoke(granted.refreshToken ?? granted.accessToken).catch(() => false);
    return known;
  }

  /**
   * The provider may have made the old refresh token void by now: this is tried until it is done, or the process ends. Who
   * waits for it is told to come again; the old access token goes on meanwhile.
   */
  async #stored(connection: Connection, granted: GrantedTokens): Promise<KnownConnection | null> {
    const { store, known, sealer, clock, log, random } = this.#needs;
    const { scopes: asked, sealed } = connection;
    for (let failures = 0; ; failures += 1) {
      try {
        const kept = { asked, kept: sealed.refresh_token };
        const tokens = await sealedTokens(sealer, connection, granted, kept, random);
        const renewed = await store.renew(connection, connection.version, tokens);
        this.#count(connection, renewed === undefined ? 'lost' : 'refreshed');
        return renewed === undefined ? await known.load(connection) : known.put(renewed);
      } catch (error) {
        const { tenantId, agent, provider } = connection;
        const about = { err: error, tenant: tenantId, agent, provider };
        if (failures === 0)
          log.error(
            about,
            'a refreshed token of an agent cannot be stored: tried until the database is back',
          );
        if (this.#stop.signal.aborted) {
          log.error(
            about,
            'a refreshed token of an agent was not stored before the gateway stopped: the account may have to be connected again',
          );
          throw error;
        }
        await pause(clock, backoffMs({ ...STORE_AGAIN, least: 0.5 }, failures, random), this.#stop.signal);
      }
    }
  }

  async #ended(connection: Connection, { code }: GrantRefused): Promise<KnownConnection | null> {
    const { store, known, log } = this.#needs;
    const { tenantId, agent, provider, version } = connection;
    this.#count(connection, 'needs_reauth');
    log.warn(
      { tenant: tenantId, agent, provider, code },
      'the account of an agent has to be connected again: the provider does not take its refresh token',
    );
    await store.expire(connection, version, code);
    return known.load(connection);
  }

  #count({ provider }: Connection, outcome: string): void {
    this.#needs.outcomes.with(provider, outcome).add();
  }
}

export function notNow(): ToolFailure {
  return toolFailure(
    'TOKEN_UNAVAILABLE',
    'The token of the account is being refreshed elsewhere, and is not there yet.',
    {
      retryAfterMs: 1_000,
      partialSideEffects: false,
    },
  );
}

function problemOf(error: unknown): string {
  return error instanceof ToolFailure ? error.reason : 'INTERNAL';
}
