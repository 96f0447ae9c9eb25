// SharedLeases: one thing for each key, opened for the first who wants it and closed behind the last.

export interface Lease<Held> {
  readonly held: Held;
  /** Once; any further time does nothing. */
  readonly release: () => Promise<void>;
}

export class SharedLeases<Held> {
  readonly #shared = new Map<string, { readonly held: Held; leases: number }>();
  readonly #close: (held: Held) => Promise<void>;

  constructor(close: (held: Held) => Promise<void>) {
    this.#close = close;
  }

  lease(key: string, open: () => Held): Lease<Held> {
    const shared = this.#shared.get(key) ?? { held: open(), leases: 0 };
    this.#shared.set(key, shared);
    shared.leases += 1;
    let isHeld = true;
    const release = async () => {
      if (!isHeld) return;
      isHeld = false;
      shared.leases -= 1;
      if (shared.leases > 0) return;
      this.#shared.delete(key);
      await this.#close(shared.held);
    };
    return { held: shared.held, release };
  }
}
