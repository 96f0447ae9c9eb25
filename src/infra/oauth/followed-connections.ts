// FollowedConnections: KnownConnections over the database. Those in use are looked at every second, by their version alone.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.ts';
import type { Connection, ConnectionKey, ConnectionStore } from '../../ports/oauth/connection-store.ts';
import type { KnownConnection, KnownConnections } from '../../ports/oauth/known-connections.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { Followed } from '../postgres/followed.ts';

export interface FollowedConnectionsNeeds {
  readonly store: Pick<ConnectionStore, 'find' | 'versions'>;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while they cannot be read. */
  readonly unread: Gauge;
}

interface Entry {
  readonly key: ConnectionKey;
  readonly known: KnownConnection | null;
  usedAt: number;
}

const MOST = 20_000;
const AT_ONCE = 1_000;
/** One that nobody used for so long is read again when it is. */
const IDLE_MS = 300_000;
const SAYS = {
  away: 'the connected accounts of agents cannot be read: tokens that are known stay in use until they end, and one that is disconnected now may still be used',
  back: 'the connected accounts of agents can be read again',
};

export class FollowedConnections implements KnownConnections {
  readonly #needs: FollowedConnectionsNeeds;
  readonly #entries = new LRUCache<string, Entry>({ max: MOST });
  readonly #loads = new Map<string, Promise<KnownConnection | null>>();
  readonly #followed: Followed;

  constructor(needs: FollowedConnectionsNeeds) {
    this.#needs = needs;
    this.#followed = new Followed({ ...needs, says: SAYS, look: (isStopped) => this.#look(isStopped) });
  }

  get isAway(): boolean {
    return this.#followed.isAway;
  }

  /** Asks nothing before one is in use. */
  start(): Promise<void> {
    return this.#followed.start();
  }

  stop(): void {
    this.#followed.stop();
  }

  peek(key: ConnectionKey): KnownConnection | null | undefined {
    const entry = this.#entries.get(textOf(key));
    if (entry === undefined) return undefined;
    entry.usedAt = this.#needs.clock.now();
    return entry.known;
  }

  load(key: ConnectionKey): Promise<KnownConnection | null> {
    const text = textOf(key);
    let loading = this.#loads.get(text);
    if (loading === undefined) {
      loading = this.#load(key, this.#needs.clock.now()).finally(() => this.#loads.delete(text));
      this.#loads.set(text, loading);
    }
    return loading;
  }

  put(connection: Connection): KnownConnection {
    return this.#take(connection, this.#needs.clock.now());
  }

  drop(key: ConnectionKey): void {
    this.#set(key, null, this.#needs.clock.now());
  }

  async #load(key: ConnectionKey, usedAt: number): Promise<KnownConnection | null> {
    const found = await this.#needs.store.find(key);
    if (found !== undefined) return this.#take(found, usedAt);
    this.#set(key, null, usedAt);
    return null;
  }

  /** An answer that is older than what was written since changes nothing. */
  #take(connection: Connection, usedAt: number): KnownConnection {
    const before = this.#entries.peek(textOf(connection))?.known;
    if (before && before.connection.version > connection.version) return before;
    const now = this.#needs.clock.now();
    const at = (ms: number | null) => (ms === null ? undefined : now + ms);
    const { expiresInMs, refreshInMs } = connection;
    const known = { connection, expiresAt: at(expiresInMs), refreshAt: at(refreshInMs) };
    this.#set(connection, known, usedAt);
    return known;
  }

  #set({ tenantId, agent, provider }: ConnectionKey, known: KnownConnection | null, usedAt: number): void {
    const key = { tenantId, agent, provider };
    this.#entries.set(textOf(key), { key, known, usedAt });
  }

  async #look(isStopped: () => boolean): Promise<void> {
    const idleSince = this.#needs.clock.now() - IDLE_MS;
    for (const [text, { usedAt }] of this.#entries.entries())
      if (usedAt < idleSince) this.#entries.delete(text);
    const entries = [...this.#entries.values()];
    for (let from = 0; from < entries.length && !isStopped(); from += AT_ONCE)
      await this.#compare(entries.slice(from, from + AT_ONCE));
  }

  async #compare(entries: readonly Entry[]): Promise<void> {
    const found = await this.#needs.store.versions(entries.map(({ key }) => key));
    const versions = new Map(found.map((each) => [textOf(each), each.version]));
    for (const { key, known, usedAt } of entries) {
      const version = versions.get(textOf(key));
      if (version === known?.connection.version) continue;
      // What was written here meanwhile is newer than the answer.
      if (this.#entries.peek(textOf(key))?.known !== known) continue;
      if (version === undefined) this.#set(key, null, usedAt);
      else await this.#load(key, usedAt);
    }
  }
}

/** PostgreSQL keeps no NUL: none is in a name. */
function textOf({ tenantId, agent, provider }: ConnectionKey): string {
  return `${agent}\0${provider}\0${tenantId}`;
}
