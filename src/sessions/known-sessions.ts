// KnownSessions: sessions as this replica knows them. One that is used is looked at every second, in one statement for all of them; one
// that is not known is looked for once, however many calls ask.
import { LRUCache } from 'lru-cache';
import { SharedSlots } from '../lib/concurrency/shared-slots.ts';
import { every, type Repeated } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRecord, SessionStore } from '../ports/sessions/session-store.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Gauge } from '../ports/telemetry/metrics.ts';
import { busy } from './session-failures.ts';

export interface KnownSession {
  readonly record: SessionRecord;
  /** By Clock.now(); moves with every use. */
  overAt: number;
  usedAt: number;
  /** When the database was looked at. */
  readonly seenAt: number;
}

export interface KnownSessionsNeeds {
  readonly store: Pick<SessionStore, 'find' | 'touch'>;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while they cannot be read. */
  readonly unread: Gauge;
}

const LOOK_MS = 1_000;
const JITTER = 0.2;
/** One that the database was not looked at for so long is looked for again. */
const FRESH_MS = 4_000;
/** Unused for so long, it is not looked at any more. */
const WATCHED_MS = 60_000;
/** A look that takes longer is one at a database that is away. */
const SLOW_LOOK_MS = 2_000;
const MOST_KNOWN = 10_000;
const MOST_ABSENT = 10_000;
const ABSENT_MS = 5_000;
/** Of one statement. */
const BATCH = 1_000;
/** Lookups under way; one tenant cannot have them all. */
const MOST_LOOKUPS = 64;

export class KnownSessions {
  readonly #needs: KnownSessionsNeeds;
  readonly #known = new LRUCache<string, KnownSession>({ max: MOST_KNOWN });
  /** Until when it is known that there is none of this id. */
  readonly #absent = new LRUCache<string, number>({ max: MOST_ABSENT });
  /** Used since the database was told last. */
  readonly #used = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<KnownSession | undefined>>();
  readonly #slots = new SharedSlots(MOST_LOOKUPS);
  #looks: Repeated | undefined;
  #lookingSince: number | undefined;
  #failed = false;
  #stopped = false;

  constructor(needs: KnownSessionsNeeds) {
    this.#needs = needs;
  }

  start(): void {
    this.#looks = every(
      this.#needs.clock,
      { ms: LOOK_MS, jitter: JITTER },
      () => this.#look(),
      (error) => this.#tell(error),
    );
  }

  /** A look under way is not waited for: its statement may hang. */
  stop(): void {
    this.#stopped = true;
    void this.#looks?.stop();
  }

  /** Undefined: it has to be looked for. While the database is away, what was known stays known. */
  peek(id: string): KnownSession | undefined {
    const known = this.#known.get(id);
    if (known === undefined) return undefined;
    return this.#needs.clock.now() - known.seenAt < FRESH_MS || this.#isAway() ? known : undefined;
  }

  /** Undefined: there is none. Rejects with ToolFailure UNAVAILABLE. */
  find(id: string, tenant: string): Promise<KnownSession | undefined> {
    const absentUntil = this.#absent.get(id);
    if (absentUntil !== undefined && absentUntil > this.#needs.clock.now()) return Promise.resolve(undefined);
    return this.refresh(id, tenant);
  }

  /** The same, whatever is known. */
  refresh(id: string, tenant: string): Promise<KnownSession | undefined> {
    const running = this.#lookups.get(id);
    if (running !== undefined) return running;
    const leave = this.#slots.take(tenant);
    if (leave === undefined) return Promise.reject(busy());
    const lookup = this.#lookUp(id).finally(() => {
      leave();
      this.#lookups.delete(id);
    });
    this.#lookups.set(id, lookup);
    return lookup;
  }

  /** As it was just read or written. */
  put(record: SessionRecord): KnownSession {
    const { clock } = this.#needs;
    const now = clock.now();
    const before = this.#known.get(record.id);
    const isOver = record.endedAt !== null;
    const usedAt = before?.usedAt ?? now - WATCHED_MS;
    // What was used here since is not in the database yet.
    const ownEnd = this.#used.has(record.id) ? (before?.overAt ?? 0) : 0;
    const overAt = isOver ? 0 : Math.max(now + record.leftMs, ownEnd);
    const known = { record, overAt, usedAt, seenAt: now };
    this.#absent.delete(record.id);
    this.#known.set(record.id, known);
    return known;
  }

  /** It is used now: it is over that much later. */
  use(known: KnownSession): void {
    const { clock } = this.#needs;
    const { id, idleMs, expiresAt } = known.record;
    const now = clock.now();
    known.usedAt = now;
    known.overAt = Math.min(now + idleMs, now + (expiresAt.getTime() - clock.wall()));
    if (this.#used.size < MOST_KNOWN || this.#used.has(id)) this.#used.set(id, now);
  }

  async #lookUp(id: string): Promise<KnownSession | undefined> {
    const [record] = await this.#needs.store.find([id]);
    if (record !== undefined) return this.put(record);
    this.#known.delete(id);
    this.#absent.set(id, this.#needs.clock.now() + ABSENT_MS);
    return undefined;
  }

  async #look(): Promise<void> {
    const { clock, store } = this.#needs;
    this.#lookingSince = clock.now();
    try {
      await this.#tellUses();
      const since = clock.now() - WATCHED_MS;
      const watched = [...this.#known.entries()].filter(([, { usedAt }]) => usedAt > since).map(([id]) => id);
      for (let at = 0; at < watched.length && !this.#stopped; at += BATCH) {
        const ids = watched.slice(at, at + BATCH);
        const found = await store.find(ids);
        for (const record of found) this.put(record);
        const there = new Set(found.map(({ id }) => id));
        for (const id of ids) if (!there.has(id)) this.#known.delete(id);
      }
      this.#tell(undefined);
    } finally {
      this.#lookingSince = undefined;
    }
  }

  async #tellUses(): Promise<void> {
    const { clock, store } = this.#needs;
    const uses = [...this.#used];
    if (uses.length === 0) return;
    const now = clock.now();
    await store.touch(uses.map(([id, at]) => ({ id, agoMs: Math.max(0, now - at) })));
    for (const [id, at] of uses) if (this.#used.get(id) === at) this.#used.delete(id);
  }

  #isAway(): boolean {
    if (this.#failed) return true;
    return this.#lookingSince !== undefined && this.#needs.clock.now() - this.#lookingSince > SLOW_LOOK_MS;
  }

  #tell(error: unknown): void {
    const failed = error !== undefined;
    if (failed === this.#failed || this.#stopped) return;
    this.#failed = failed;
    const { log, unread } = this.#needs;
    unread.set(failed ? 1 : 0);
    if (failed)
      log.error(
        { err: error },
        'sessions cannot be read from the database: those that were known stay as they were, calls of others are refused until it is back',
      );
    else log.info({}, 'sessions can be read again');
  }
}
