// StorePulse: once a second, what this replica owes the store: leases renewed, slots given back, a sign of life.
import { every, type Repeated } from '../../lib/timers/every.ts';
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
  #beats: Repeated | undefined;

  constructor(deps: PulseDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { clock, random, tickMs, health } = this.#deps;
    const period = { ms: tickMs, jitter: 0.1, random };
    this.#beats = every(
      clock,
      period,
      () => this.#beat(),
      (error) => health.failed(error),
    );
  }

  stop(): void {
    void this.#beats?.stop();
  }

  async #beat(): Promise<void> {
    const { keeper, health } = this.#deps;
    if (!health.isUp) {
      keeper.loseUnrenewed();
      return;
    }
    await keeper.sendReleases();
    const { epoch } = health;
    const reply = await keeper.renew(epoch);
    if (reply.epoch === epoch) health.countReplicas(reply.replicas);
    else await health.rejoin();
  }
}
