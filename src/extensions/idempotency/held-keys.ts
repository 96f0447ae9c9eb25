// HeldKeys: the keys of the calls that run here, kept alive together for as long as they do.
import type { Clock } from '../../ports/clock.ts';
import type { HeldKey, IdempotencyStore } from '../../ports/idempotency-store.ts';
import type { Log } from '../../ports/telemetry/log.ts';

/** After so long without a sign of life, the owner of a key is taken for dead. */
export const LEASE_MS = 30_000;
const RENEW_EVERY_MS = LEASE_MS / 3;

export class HeldKeys {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #held = new Set<HeldKey>();
  #disarm: (() => void) | undefined;

  constructor(store: IdempotencyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  add(key: HeldKey): void {
    this.#held.add(key);
    this.#disarm ??= this.#clock.after(RENEW_EVERY_MS, () => void this.#renew());
  }

  delete(key: HeldKey): void {
    this.#held.delete(key);
    if (this.#held.size > 0) return;
    this.#disarm?.();
    this.#disarm = undefined;
  }

  async #renew(): Promise<void> {
    this.#disarm = this.#clock.after(RENEW_EVERY_MS, () => void this.#renew());
    // What cannot be renewed runs on: at worst its outcome is taken for unknown, which is what it then is.
    await this.#store
      .renew([...this.#held], LEASE_MS)
      .catch((error: unknown) =>
        this.#log.warn({ err: error }, 'leases of idempotency keys could not be renewed: it is tried again'),
      );
  }
}
