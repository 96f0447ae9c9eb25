// PassingMap: a Map of what comes and goes all the time, which leaves nothing of it behind.

/**
 * A Map that things pass through makes itself anew every so often, and leaves tables behind of which each leads to the next.
 * Once one of them is old, V8 keeps all that follow until the next full collection, with everything that was in them then.
 * Here that is a box for each, and what was in it is taken out.
 */
export class PassingMap<Key, Value extends object> {
  readonly #boxes = new Map<Key, Box<Value>>();

  get size(): number {
    return this.#boxes.size;
  }

  has(key: Key): boolean {
    return this.#boxes.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#boxes.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
  }

  delete(key: Key): boolean {
    const box = this.#boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.#boxes.delete(key);
  }

  /** In the order in which their keys came. */
  *values(): Generator<Value> {
    for (const { value } of this.#boxes.values()) if (value !== undefined) yield value;
  }
}

interface Box<Value> {
  value: Value | undefined;
}
