// LostClaims: names by which this replica may have claimed calls without being told: what they hold is for it alone to run.
import { AnswerLost } from '../ports/answer-lost.ts';
import type { CallStore, ClaimedCall } from '../ports/calls/call-store.ts';

export interface LostClaimsDeps {
  readonly store: Pick<CallStore, 'reclaim'>;
  readonly leaseMs: number;
}

export class LostClaims {
  readonly #deps: LostClaimsDeps;
  /** Each with the time (monotonic) from when on others have settled what it holds. */
  readonly #lost = new Map<string, number>();

  constructor(deps: LostClaimsDeps) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#lost.size === 0;
  }

  /** Gives what `claim` gives; the name is remembered where it may have claimed something and its answer was lost. */
  async watch<T>(owner: string, claim: () => Promise<T>): Promise<T> {
    try {
      return await claim();
    } catch (error) {
      if (error instanceof AnswerLost) this.add(owner);
      throw error;
    }
  }

  add(owner: string): void {
    this.#lost.set(owner, performance.now() + this.#deps.leaseMs);
  }

  /** What was found, each call once, its lease renewed. A name that holds nothing yet may still come to: it is asked for again. */
  async find(): Promise<readonly ClaimedCall[]> {
    const { store, leaseMs } = this.#deps;
    const found: ClaimedCall[] = [];
    for (const [owner, until] of this.#lost) {
      const calls = await store.reclaim(owner, leaseMs).catch(() => []);
      if (calls.length > 0 || performance.now() > until) this.#lost.delete(owner);
      found.push(...calls);
    }
    return found;
  }
}
