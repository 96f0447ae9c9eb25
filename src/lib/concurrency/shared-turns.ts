// SharedTurns: work that tenants share the slots of. Whoever finds none waits; one tenant cannot take them all.
import { SharedSlots } from './shared-slots.ts';

type GiveBack = () => void;

interface Waiting {
  readonly tenant: string;
  readonly go: (giveBack: GiveBack) => void;
}

export class SharedTurns {
  readonly #slots: SharedSlots;
  readonly #waiting = new Set<Waiting>();

  constructor(most: number) {
    this.#slots = new SharedSlots(most);
  }

  /** In the order in which they came, as far as their tenant may have another slot. */
  async run<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    const giveBack = this.#slots.take(tenant) ?? (await this.#turn(tenant));
    try {
      return await work();
    } finally {
      giveBack();
      this.#next();
    }
  }

  #turn(tenant: string): Promise<GiveBack> {
    return new Promise((go) => this.#waiting.add({ tenant, go }));
  }

  #next(): void {
    for (const each of this.#waiting) {
      const giveBack = this.#slots.take(each.tenant);
      if (giveBack === undefined) continue;
      this.#waiting.delete(each);
      each.go(giveBack);
      return;
    }
  }
}
