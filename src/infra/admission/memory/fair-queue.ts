// FairQueue: one lane per key, first in first out inside a lane, lanes served in turn.

export class FairQueue<T> {
  /** In the order of their turns; a lane that was served goes to the back. Empty lanes are dropped. */
  readonly #lanes = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  join(key: string, item: T): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) this.#lanes.set(key, new Set([item]));
    else lane.add(item);
    this.#size += 1;
  }

  /** The first in turn that can be served; who cannot be is passed over and keeps its turn. */
  find(canBeServed: (item: T) => boolean): T | undefined {
    for (const lane of this.#lanes.values()) {
      for (const item of lane) if (canBeServed(item)) return item;
    }
    return undefined;
  }

  /** Takes the item out; `served` also ends its lane's turn. */
  leave(key: string, item: T, served: boolean): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined || !lane.delete(item)) return;
    this.#size -= 1;
    if (lane.size === 0) {
      this.#lanes.delete(key);
    } else if (served) {
      this.#lanes.delete(key);
      this.#lanes.set(key, lane);
    }
  }
}
