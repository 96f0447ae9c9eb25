// How many streams there may be: of this replica, of a tenant among them, and of one credential.
import type { Principal } from '../../contract/call/principal.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { SharedSlots } from '../../lib/concurrency/shared-slots.ts';
import type { StreamTerms } from './stream-parts.ts';

export class StreamSlots {
  readonly #slots: SharedSlots;
  readonly #most: number;
  readonly #held = new Map<string, number>();

  constructor({ maxStreams, maxPerCredential }: Pick<StreamTerms, 'maxStreams' | 'maxPerCredential'>) {
    this.#slots = new SharedSlots(maxStreams);
    this.#most = maxPerCredential;
  }

  /** What gives the place back, once. Throws ToolFailure CONCURRENCY_LIMIT. */
  enter({ id, tenantId }: Pick<Principal, 'id' | 'tenantId'>): () => void {
    const held = this.#held.get(id) ?? 0;
    const leave = held < this.#most ? this.#slots.take(tenantId) : undefined;
    if (leave === undefined) {
      const message =
        held < this.#most
          ? 'This replica has all the streams that it may have.'
          : `The credential has ${this.#most} streams at this replica, and may have no more.`;
      throw toolFailure('TOO_MANY_STREAMS', message, { retryAfterMs: 5_000 });
    }
    this.#held.set(id, held + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      leave();
      const left = (this.#held.get(id) ?? 1) - 1;
      if (left > 0) this.#held.set(id, left);
      else this.#held.delete(id);
    };
  }
}
