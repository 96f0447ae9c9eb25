// WorkspaceLocks: one run at a time in each kept workspace, in the order in which they came.
export class WorkspaceLocks {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for the run before it; rejects with the signal's reason when that aborts first. The result unlocks it. */
  async take(workspace: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#last.get(workspace);
    let end = () => undefined as void;
    const mine = new Promise<void>((resolve) => (end = resolve));
    const after = (before ?? Promise.resolve()).then(() => mine);
    this.#last.set(workspace, after);
    void after.then(() => this.#last.get(workspace) === after && this.#last.delete(workspace));
    try {
      if (before !== undefined) await unlessAborted(before, signal);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  isTaken(workspace: string): boolean {
    return this.#last.has(workspace);
  }
}

async function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  await Promise.race([turn, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}
