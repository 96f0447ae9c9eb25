// MemoryLeads: who answers for a key now, by a token. Leads end with their calls; of those that never do, the oldest go first.
// A plain Map: a call takes and gives one, and an LRUCache that becomes empty clears its arrays at their full size each time.
import type { Clock } from '../../ports/clock.ts';

interface Lead {
  readonly token: string;
  readonly until: number;
}

export class MemoryLeads {
  readonly #leads = new Map<string, Lead>();
  readonly #clock: Clock;
  readonly #most: number;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** False: somebody else has it. */
  take(key: string, token: string, lifeMs: number): boolean {
    const now = this.#clock.now();
    const held = this.#leads.get(key);
    if (held !== undefined && held.until > now && held.token !== token) return false;
    this.#leads.delete(key);
    this.#leads.set(key, { token, until: now + lifeMs });
    const [oldest] = this.#leads.keys();
    if (this.#leads.size > this.#most && oldest !== undefined) this.#leads.delete(oldest);
    return true;
  }

  release(key: string, token: string): void {
    if (this.#leads.get(key)?.token === token) this.#leads.delete(key);
  }
}
