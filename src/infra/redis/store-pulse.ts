// StorePulse: once a second, what this replica owes the store: leases renewed, places given back, a sign of life.
import type { Clock } from '../../ports/clock.ts';
import type { LeaseKeeper } from '../admission/redis/lease-keeper.ts';
import type { StoreHealth } from './store-health.ts';

export interface PulseDeps {
  readonly keeper: LeaseKeeper;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly random: () => number;
  readonly tickMs: number;
}

export class StorePulse {
  readonly #deps: PulseDeps;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(deps: PulseDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#stopped) return;
    const { clock, random, tickMs } = this.#deps;
    this.#cancel = clock.after(
      tickMs * (0.9 + random() / 5),
      () => void this.#beat().finally(() => this.start()),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #beat(): Promise<void> {
    const { keeper, health } = this.#deps;
    if (!health.isUp) {
      keeper.loseUnrenewed();
      return;
    }
    try {
      await keeper.sendReleases();
      const { epoch } = health;
      const reply = await keeper.renew(epoch);
      if (reply.epoch === epoch) health.countReplicas(reply.replicas);
      else await health.rejoin();
    } catch (error) {
      health.failed(error);
    }
  }
}
