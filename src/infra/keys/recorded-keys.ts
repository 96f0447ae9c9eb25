// RecordedKeys: the keys of the database, known to this replica. Looked at every second, and at once after a change made here.
import { tryFor } from '../../lib/timers/try-for.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyStore } from '../../ports/keys/key-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import type { ApiKeyAuthenticator } from './api-key-authenticator.ts';

export interface RecordedKeysNeeds {
  readonly store: Pick<KeyStore, 'generation' | 'inForce'>;
  /** Undefined: nobody is asked for a key. */
  readonly authenticator: Pick<ApiKeyAuthenticator, 'replaceRecorded'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while the keys cannot be read. */
  readonly unread: Gauge;
  readonly count: Gauge;
}

const LOOK_MS = 1_000;
const JITTER = 0.2;
/** What a start waits for them. */
const FIRST = { ms: 10_000, everyMs: LOOK_MS };
/** A look that takes longer is told of before its statement is given up. */
const SLOW_MS = 3_000;

export class RecordedKeys {
  readonly #needs: RecordedKeysNeeds;
  #generation: number | undefined;
  #ids: readonly string[] = [];
  #isAway = false;
  #stopped = false;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: RecordedKeysNeeds) {
    this.#needs = needs;
  }

  /** They cannot be read: those from before stay in force. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves when the keys are known. Rejects where they cannot be read now: a start without them would refuse their callers. */
  async start(): Promise<void> {
    const { clock, authenticator } = this.#needs;
    if (authenticator === undefined || this.#stopped) return;
    await tryFor(clock, FIRST, () => this.#look());
    this.#looks = every(
      clock,
      { ms: LOOK_MS, jitter: JITTER },
      () => this.check(),
      () => undefined,
    );
  }

  /** A look under way is not waited for: its statement may hang, and what it finds is of no use any more. */
  stop(): void {
    this.#stopped = true;
    void this.#looks?.stop();
  }

  /**
   * Resolves when the keys are those of the database, if it can be asked. Never rejects. One look after the other: an
   * older answer would bring back what was revoked since.
   */
  check(): Promise<void> {
    this.#looking = this.#looking.then(() => {
      const late = new Error(`the database has not answered within ${SLOW_MS} ms`);
      const disarm = this.#needs.clock.after(SLOW_MS, () => this.#tell(late));
      const ended = (error?: unknown) => {
        disarm();
        this.#tell(error);
      };
      return this.#look().then(() => ended(), ended);
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { store, authenticator, log, count } = this.#needs;
    if (this.#stopped || (await store.generation()) === this.#generation) return;
    const { generation, keys } = await store.inForce();
    if (this.#stopped) return;
    authenticator?.replaceRecorded(keys);
    const ids = keys.map(({ id }) => id);
    const [before, after] = [new Set(this.#ids), new Set(ids)];
    const added = ids.filter((id) => !before.has(id));
    const removed = this.#ids.filter((id) => !after.has(id));
    if (this.#generation !== undefined)
      log.info({ added, removed }, 'the API keys of the database were changed');
    this.#ids = ids;
    this.#generation = generation;
    count.set(ids.length);
  }

  #tell(error: unknown): void {
    const isAway = error !== undefined;
    if (isAway === this.#isAway || this.#stopped) return;
    this.#isAway = isAway;
    const { log, unread } = this.#needs;
    unread.set(isAway ? 1 : 0);
    if (isAway)
      log.error(
        { err: error },
        'the API keys of the database cannot be read: those that were known stay in force, until they expire, and a key that is revoked now may still be let in',
      );
    else log.info({}, 'the API keys of the database can be read again');
  }
}
