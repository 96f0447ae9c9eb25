// CallNews: which of some calls may have changed since they were last looked at, also while nobody waited for it.
import type { CallHints } from '../../ports/calls/call-hints.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallLooks } from './call-looks.ts';

export interface CallNewsDeps {
  readonly looks: Pick<CallLooks, 'againMs'>;
  readonly hints: Pick<CallHints, 'subscribe'>;
  readonly clock: Clock;
}

export class CallNews {
  readonly #clock: Clock;
  readonly #looks: Pick<CallLooks, 'againMs'>;
  readonly #stopped: AbortSignal;
  readonly #ids: ReadonlySet<string>;
  readonly #unsubscribe: () => void;
  /** At first all of them: nobody has looked yet. */
  #fresh: Set<string>;
  #wake: (() => void) | undefined;

  constructor({ hints, clock, looks }: CallNewsDeps, ids: readonly string[], stopped: AbortSignal) {
    this.#clock = clock;
    this.#looks = looks;
    this.#stopped = stopped;
    this.#ids = new Set(ids);
    this.#fresh = new Set(ids);
    this.#unsubscribe = hints.subscribe((_hint, callId) => {
      if (!this.#ids.has(callId)) return;
      this.#fresh.add(callId);
      this.#wake?.();
    });
    stopped.addEventListener('abort', this.#onStop, { once: true });
  }

  /** To be asked for before a look: what changes during it is news again. */
  take(): readonly string[] {
    const taken = [...this.#fresh];
    this.#fresh = new Set();
    return taken;
  }

  /** Until there is news, a hint of it may have been lost, or it is over. */
  async wait(): Promise<void> {
    if (this.#fresh.size > 0 || this.#stopped.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const disarm = this.#clock.after(this.#looks.againMs, () => {
      this.#fresh = new Set(this.#ids);
      resolve();
    });
    await promise;
    disarm();
  }

  close(): void {
    this.#unsubscribe();
    this.#stopped.removeEventListener('abort', this.#onStop);
  }

  readonly #onStop = (): void => this.#wake?.();
}
