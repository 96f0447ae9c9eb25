// SharedSlots: slots that tenants share, such as open streams. One tenant cannot take them all: the last tenth is for those
// that hold few.

const KEPT = 0.1;
/** A tenant that holds fewer than this part of all slots holds few. */
const FEW = 0.01;

export class SharedSlots {
  readonly #most: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** What gives the slot back, once; undefined where there is none for this tenant. */
  take(tenant: string): (() => void) | undefined {
    const held = this.#held.get(tenant) ?? 0;
    const most = held < this.#most * FEW ? this.#most : this.#most * (1 - KEPT);
    if (this.#taken >= most) return undefined;
    this.#taken += 1;
    this.#held.set(tenant, held + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(tenant);
      isHeld = false;
    };
  }

  #giveBack(tenant: string): void {
    this.#taken -= 1;
    const left = (this.#held.get(tenant) ?? 1) - 1;
    if (left > 0) this.#held.set(tenant, left);
    else this.#held.delete(tenant);
  }
}
