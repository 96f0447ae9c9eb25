// A connection store in memory, a provider that rotates refresh tokens, and a sealer that marks: what OAuth's own parts are tested on.
import { toolFailure } from '../../src/contract/call/failure.ts';
import type {
  Connection,
  ConnectionDraft,
  ConnectionKey,
  ConnectionStore,
  RenewedTokens,
} from '../../src/ports/oauth/connection-store.ts';
import type { KnownConnection, KnownConnections } from '../../src/ports/oauth/known-connections.ts';
import {
  GrantRefused,
  type GrantedTokens,
  type OAuthProvider,
} from '../../src/ports/oauth/oauth-provider.ts';
import type { SecretPlace, SecretSealer } from '../../src/ports/secrets/secret-sealer.ts';
import { FakeClock } from './fake-clock.ts';

export const KEY: ConnectionKey = { tenantId: 'acme', agent: 'desk', provider: 'id' };
export const HOUR_MS = 3_600_000;

/** Opens what was sealed for the same place, and nothing else. */
export const markingSealer: SecretSealer = {
  seal: async (text, place) => `${placeOf(place)}|${text}`,
  async open(sealed, place) {
    const start = `${placeOf(place)}|`;
    if (!sealed.startsWith(start)) throw toolFailure('SECRET_UNREADABLE', 'not of this place');
    return sealed.slice(start.length);
  },
  rewrap: async () => undefined,
};

function placeOf({ tenantId, agent, tool, field }: SecretPlace): string {
  return [tenantId, agent, tool, field].join('/');
}

/** As PostgreSQL keeps them, on a test's clock. */
export class MemoryConnections
  implements Pick<ConnectionStore, 'find' | 'claim' | 'renew' | 'release' | 'expire'>, KnownConnections
{
  readonly clock = new FakeClock();
  row: (Connection & { readonly at: number }) | undefined;
  claimedUntil = 0;
  reads = 0;
  /** So many writes fail before one succeeds. */
  failingRenewals = 0;
  isAway = false;
  #version = 0;
  #known: KnownConnection | null | undefined;

  connect(changes: Partial<ConnectionDraft> = {}): void {
    const [access, refresh] = ['access_token', 'refresh_token'].map(
      (field) => `acme/desk/oauth/id/${field}|`,
    );
    this.#write({
      ...KEY,
      providerKey: 'k1',
      scopes: ['read'],
      sealed: { access_token: `${access}access-1`, refresh_token: `${refresh}refresh-1` },
      expiresInMs: HOUR_MS,
      refreshInMs: 0.8 * HOUR_MS,
      ...changes,
    });
    this.#known = undefined;
  }

  async find(): Promise<Connection | undefined> {
    this.reads += 1;
    this.#answer();
    if (this.row === undefined) return undefined;
    const { at, ...row } = this.row;
    const gone = this.clock.now() - at;
    const left = (ms: number | null) => (ms === null ? null : ms - gone);
    return { ...row, expiresInMs: left(row.expiresInMs), refreshInMs: left(row.refreshInMs) };
  }

  async claim(_key: ConnectionKey, version: number, leaseMs: number): Promise<boolean> {
    this.#answer();
    const isFree = this.claimedUntil <= this.clock.now();
    if (this.row?.version !== version || this.row.state !== 'connected' || !isFree) return false;
    this.claimedUntil = this.clock.now() + leaseMs;
    return true;
  }

  async renew(_key: ConnectionKey, version: number, tokens: RenewedTokens): Promise<Connection | undefined> {
    if (this.failingRenewals > 0) {
      this.failingRenewals -= 1;
      throw toolFailure('DATABASE_UNAVAILABLE', 'away');
    }
    if (this.row?.version !== version) return undefined;
    this.#write({ ...this.row, ...tokens });
    return this.find();
  }

  async release(_key: ConnectionKey, version: number, problem: string): Promise<void> {
    if (this.row?.version !== version) return;
    this.row = { ...this.row, problem };
    this.claimedUntil = 0;
  }

  async expire(_key: ConnectionKey, version: number, problem: string): Promise<void> {
    if (this.row?.version !== version) return;
    this.row = { ...this.row, state: 'needs_reauth', problem, version: (this.#version += 1) };
  }

  peek(): KnownConnection | null | undefined {
    return this.#known;
  }

  async load(): Promise<KnownConnection | null> {
    const found = await this.find();
    return (this.#known = found === undefined ? null : this.put(found));
  }

  put(connection: Connection): KnownConnection {
    const at = (ms: number | null) => (ms === null ? undefined : this.clock.now() + ms);
    const { expiresInMs, refreshInMs } = connection;
    return (this.#known = { connection, expiresAt: at(expiresInMs), refreshAt: at(refreshInMs) });
  }

  drop(): void {
    this.#known = null;
  }

  #write(draft: ConnectionDraft): void {
    const made = { connectedAt: new Date(0), connectedBy: 'boss', refreshedAt: null, problem: '' };
    const version = (this.#version += 1);
    this.row = { ...made, ...draft, problem: '', state: 'connected', version, at: this.clock.now() };
    this.claimedUntil = 0;
  }

  #answer(): void {
    if (this.isAway) throw toolFailure('DATABASE_UNAVAILABLE', 'away');
  }
}

/** Gives another refresh token with each refresh; the one before is void, and its use voids all of them. */
export class RotatingProvider implements OAuthProvider {
  readonly name = 'id';
  key = 'k1';
  readonly scopes: readonly string[] = [];
  refreshes = 0;
  /** What it answers instead. */
  failure: Error | undefined;
  /** Held back until this resolves. */
  gate: Promise<void> = Promise.resolve();
  #current: string | undefined = 'refresh-1';

  async refresh(refreshToken: string): Promise<GrantedTokens> {
    this.refreshes += 1;
    const serial = this.refreshes + 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    if (refreshToken !== this.#current) {
      this.#current = undefined;
      throw new GrantRefused('invalid_grant');
    }
    this.#current = `refresh-${serial}`;
    return {
      accessToken: `access-${serial}`,
      refreshToken: this.#current,
      expiresInS: 3_600,
      scopes: undefined,
    };
  }

  authorizationUrl = () => Promise.reject(new Error('not here'));
  exchange = () => Promise.reject(new Error('not here'));
  startDevice = () => Promise.reject(new Error('not here'));
  pollDevice = () => Promise.reject(new Error('not here'));
  revoke: OAuthProvider['revoke'] = () => Promise.resolve(true);
}
