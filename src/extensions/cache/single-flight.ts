// SingleFlight: of equal calls of this process that run at the same time, one leads; the others wait for its answer.

/** What a call is resume when it comes, or after waiting. */
export type Role =
  /** Nobody else runs it: run it, then `settle`. */
  | { readonly kind: 'lead' }
  | { readonly kind: 'answer'; readonly dataJson: string }
  /** Run it, and for nobody else. */
  | { readonly kind: 'alone' };

/** How the leader ended. */
export type Outcome =
  | { readonly kind: 'answer'; readonly dataJson: string }
  /** The tool failed: one other may try. */
  | { readonly kind: 'failed' }
  /** It was cancelled or ran out of its own time, which says nothing of the tool. */
  | { readonly kind: 'gave_up' }
  /** There is an answer, and it is the leader's alone. */
  | { readonly kind: 'unshared' };

interface Flight {
  failures: number;
  /** In the order they came. */
  readonly waiting: Set<(role: Role) => void>;
}

/** Calls that may wait for one leader; further ones go on alone, to the limits of the tool. */
const MAX_WAITING = 1_000;
/** After so many failures those who wait are let go at once: in single file, the last would wait for all the others. */
const MAX_FAILURES = 2;

const LEAD: Role = { kind: 'lead' };
const ALONE: Role = { kind: 'alone' };

export class SingleFlight {
  readonly #flights = new Map<string, Flight>();

  /**
   * What a call is to do; one that may not wait is never held up. A call that is aborted while it waits goes on alone,
   * and does not get far.
   */
  enter(key: string, signal: AbortSignal, mayWait: boolean): Role | Promise<Role> {
    const flight = this.#flights.get(key);
    if (flight === undefined) {
      this.#flights.set(key, { failures: 0, waiting: new Set() });
      return LEAD;
    }
    if (!mayWait || signal.aborted || flight.waiting.size >= MAX_WAITING) return ALONE;
    return new Promise((resolve) => {
      const resume = (role: Role) => {
        signal.removeEventListener('abort', leave);
        flight.waiting.delete(resume);
        resolve(role);
      };
      const leave = () => resume(ALONE);
      flight.waiting.add(resume);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** By the leader, once: gives its answer to all who wait, or the lead to the next. */
  settle(key: string, outcome: Outcome): void {
    const flight = this.#flights.get(key);
    if (flight === undefined) return;
    if (outcome.kind === 'failed') flight.failures += 1;
    const handsOver =
      outcome.kind === 'gave_up' || (outcome.kind === 'failed' && flight.failures < MAX_FAILURES);
    if (handsOver) {
      const [next] = flight.waiting;
      if (next === undefined) this.#flights.delete(key);
      else next(LEAD);
      return;
    }
    this.#flights.delete(key);
    const role = outcome.kind === 'answer' ? outcome : ALONE;
    for (const resume of flight.waiting) resume(role);
  }

  get size(): number {
    return this.#flights.size;
  }
}
