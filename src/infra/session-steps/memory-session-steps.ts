// MemorySessionSteps: the steps of the sessions of one process. Full of sessions that are still kept, it takes no further ones.
import { STEPS_KEPT_MS, type SessionSteps } from '../../ports/sessions/session-steps.ts';
import type { Clock } from '../../ports/clock.ts';

const MOST_SESSIONS = 50_000;

interface Kept {
  readonly steps: Map<string, number>;
  readonly until: number;
}

export class MemorySessionSteps implements SessionSteps {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #most: number;
  /** Those whose time is over first: each mark puts its session last. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Pick<Clock, 'now'>, most = MOST_SESSIONS) {
    this.#clock = clock;
    this.#most = most;
  }

  async mark(session: string, steps: readonly string[], at: number): Promise<void> {
    this.#dropOld();
    const known = this.#kept.get(session)?.steps ?? new Map<string, number>();
    if (!this.#kept.delete(session) && this.#kept.size >= this.#most)
      throw new Error('no further session can be remembered');
    for (const step of steps) known.set(step, at);
    this.#kept.set(session, { steps: known, until: this.#clock.now() + STEPS_KEPT_MS });
  }

  async taken(session: string, steps: readonly string[]): Promise<ReadonlyMap<string, number>> {
    this.#dropOld();
    const known = this.#kept.get(session)?.steps;
    return new Map(
      steps.flatMap((step) => {
        const at = known?.get(step);
        return at === undefined ? [] : [[step, at] as const];
      }),
    );
  }

  #dropOld(): void {
    for (const [session, { until }] of this.#kept) {
      if (until > this.#clock.now()) return;
      this.#kept.delete(session);
    }
  }
}
