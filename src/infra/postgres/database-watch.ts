// DatabaseWatch: asks the database once a second whether it is there, so that /readyz and a gauge tell before a call has failed.
import { Pool } from 'pg';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { TAKES_ROOM, type FullDisk } from './roles/full-disk.ts';
import { watchConfigOf, type DatabaseSettings } from './roles/connect-as.ts';

export interface DatabaseWatchDeps {
  readonly settings: DatabaseSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly degraded: Gauge;
  /** What the log says of a database that is away, and is back. */
  readonly words?: Words;
  /** What statements were refused for; left out: nothing is stored there. */
  readonly fullDisk?: FullDisk;
}

interface Words {
  readonly away: string;
  readonly back: string;
}

export const DISK_FULL =
  'the disk of the database is full: what is there is read as before, and calls that need something stored are refused until there is space';
const WORDS: Words = {
  away: 'the database is away: calls that change something are refused until it is back',
  back: 'the database answers again: calls are accepted as before',
};

const EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;
const STOP_WITHIN_MS = 500;

/** On a connection of its own: those of the pool may all be taken by work, which is no sign that the database is away. */
export class DatabaseWatch {
  readonly #deps: DatabaseWatchDeps;
  #pool: Pool | undefined;
  #state: 'well' | 'away' | 'full' = 'well';
  #looks: Repeated | undefined;
  #stopped = false;

  constructor(deps: DatabaseWatchDeps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#state === 'away';
  }

  /** It answers, and stores nothing. */
  get isFull(): boolean {
    return this.#state === 'full';
  }

  /** Once the database has been opened: until then the gateway is not ready anyway. */
  start(): void {
    if (this.#stopped) return;
    const { clock, log } = this.#deps;
    const failed = (error: unknown) =>
      log.warn({ err: error }, 'whether the database answers could not be checked: it is checked again');
    this.#looks = every(clock, { ms: EVERY_MS }, () => this.#look(), failed);
  }

  /** A look under way is not waited for longer: while the database hangs it takes seconds, which a stop does not have. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const ended = this.#looks?.stop().then(() => this.#pool?.end());
    if (ended !== undefined) await settledWithin(this.#deps.clock, STOP_WITHIN_MS, ended);
  }

  async #look(): Promise<void> {
    // One connection may be lost while the database is there: asked again, on another.
    const error = await this.#ask().catch(() => this.#ask().catch((reason: unknown) => reason));
    const { log, degraded, words = WORDS, fullDisk } = this.#deps;
    const isFull = error === undefined && fullDisk?.isFull === true && (await this.#isStillFull(fullDisk));
    const state = error === undefined ? (isFull ? 'full' : 'well') : 'away';
    if (state === this.#state || this.#stopped) return;
    this.#state = state;
    degraded.set(state === 'well' ? 0 : 1);
    if (state === 'well') log.info({}, words.back);
    else log.error({ err: error }, state === 'full' ? DISK_FULL : words.away);
  }

  async #isStillFull(fullDisk: FullDisk): Promise<boolean> {
    try {
      await this.#pool?.query(TAKES_ROOM);
      fullDisk.hasRoom();
    } catch (error) {
      fullDisk.failed(error);
    }
    return fullDisk.isFull;
  }

  async #ask(): Promise<undefined> {
    const pool = (this.#pool ??= await this.#open());
    await pool.query('SELECT 1');
  }

  async #open(): Promise<Pool> {
    const pool = new Pool(await watchConfigOf(this.#deps.settings, ANSWER_WITHIN_MS));
    // The next question opens another.
    pool.on('error', () => undefined);
    return pool;
  }
}
