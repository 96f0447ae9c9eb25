// DatabaseWatch: asks the database once a second whether it is there, so that /readyz and a gauge tell before a call has failed.
import { Pool } from 'pg';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';
import { watchConfigOf, type DatabaseSettings } from './roles/connect-as.ts';

export interface DatabaseWatchDeps {
  readonly settings: DatabaseSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly degraded: Gauge;
  /** What the log says. */
  readonly words?: { readonly away: string; readonly back: string };
}

const WORDS = {
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
  #isAway = false;
  #looks: Repeated | undefined;
  #stopped = false;

  constructor(deps: DatabaseWatchDeps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#isAway;
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
    const isAway = error !== undefined;
    if (isAway === this.#isAway || this.#stopped) return;
    this.#isAway = isAway;
    const { log, degraded, words = WORDS } = this.#deps;
    degraded.set(isAway ? 1 : 0);
    if (isAway) log.error({ err: error }, words.away);
    else log.info({}, words.back);
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
