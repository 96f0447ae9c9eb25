// RecordedKeys: the keys of the database, known to this replica. Looked at every second, and at once after a change made here.
import type { Clock } from '../../ports/clock.ts';
import type { KeyStore } from '../../ports/keys/key-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { Followed } from '../postgres/followed.ts';
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

const SAYS = {
  away: 'the API keys of the database cannot be read: those that were known stay in force, until they expire, and a key that is revoked now may still be let in',
  back: 'the API keys of the database can be read again',
};

export class RecordedKeys {
  readonly #needs: RecordedKeysNeeds;
  readonly #followed: Followed;
  #generation: number | undefined;
  #ids: readonly string[] = [];

  constructor(needs: RecordedKeysNeeds) {
    this.#needs = needs;
    this.#followed = new Followed({ ...needs, says: SAYS, look: (isStopped) => this.#look(isStopped) });
  }

  /** They cannot be read: those from before stay in force. */
  get isAway(): boolean {
    return this.#followed.isAway;
  }

  /** Resolves when the keys are known. Rejects where they cannot be read now: a start without them would refuse their callers. */
  async start(): Promise<void> {
    if (this.#needs.authenticator !== undefined) await this.#followed.start();
  }

  stop(): void {
    this.#followed.stop();
  }

  /** Resolves when the keys are those of the database, if it can be asked. Never rejects. */
  check(): Promise<void> {
    return this.#followed.check();
  }

  async #look(isStopped: () => boolean): Promise<void> {
    const { store, authenticator, log, count } = this.#needs;
    if ((await store.generation()) === this.#generation) return;
    const { generation, keys } = await store.inForce();
    if (isStopped()) return;
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
}
