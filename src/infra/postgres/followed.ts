// Followed: what each replica knows of rows of the database: looked at every second, and at once after a change made here.
import { every, type Repeated } from '../../lib/timers/every.ts';
import { tryFor } from '../../lib/timers/try-for.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Gauge } from '../../ports/telemetry/metrics.ts';

export interface FollowedNeeds {
  readonly clock: Clock;
  readonly log: Log;
  /** 1 while they cannot be read. */
  readonly unread: Gauge;
  /** What is said when they cannot be read, and when they can be again. */
  readonly says: { readonly away: string; readonly back: string };
  /** Asks for what is new, and has it in force unless `isStopped` by then. Throws where the database cannot be asked. */
  look(isStopped: () => boolean): Promise<void>;
}

const LOOK_MS = 1_000;
const JITTER = 0.2;
/** What a start waits for them. */
const FIRST = { ms: 10_000, everyMs: LOOK_MS };
/** A look that takes longer is told of before its statement is given up. */
const SLOW_MS = 3_000;

export class Followed {
  readonly #needs: FollowedNeeds;
  #isAway = false;
  #stopped = false;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: FollowedNeeds) {
    this.#needs = needs;
  }

  /** They cannot be read: those from before stay in force. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves when they are known. Rejects where they cannot be read now. */
  async start(): Promise<void> {
    if (this.#stopped) return;
    const { clock } = this.#needs;
    await tryFor(clock, FIRST, () => this.#look());
    const again = { ms: LOOK_MS, jitter: JITTER };
    this.#looks = every(clock, again, () => this.check(), () => undefined); // oxfmt-ignore
  }

  /** A look under way is not waited for: its statement may hang, and what it finds is of no use any more. */
  stop(): void {
    this.#stopped = true;
    void this.#looks?.stop();
  }

  /**
   * Resolves when they are those of the database, if it can be asked. Never rejects. One look after the other: an older
   * answer would bring back what was taken away since.
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
    if (!this.#stopped) await this.#needs.look(() => this.#stopped);
  }

  #tell(error: unknown): void {
    const isAway = error !== undefined;
    if (isAway === this.#isAway || this.#stopped) return;
    this.#isAway = isAway;
    const { log, unread, says } = this.#needs;
    unread.set(isAway ? 1 : 0);
    if (isAway) log.error({ err: error }, says.away);
    else log.info({}, says.back);
  }
}
