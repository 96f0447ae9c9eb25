// Leftovers: whether something that calls have started in this thread is not over yet.

// Taken before any handler is loaded.
const activeResources = process.getActiveResourcesInfo.bind(process);

/** Connections are kept open between calls, and run nothing until something comes. */
const CONNECTIONS: ReadonlySet<string> = new Set([
  'MessagePort',
  'PipeServerWrap',
  'PipeWrap',
  'TCPServerWrap',
  'TCPSocketWrap',
  'UDPWrap',
]);

export class Leftovers {
  readonly #isBusy: () => boolean;
  /** Timers and the like of the modules themselves. */
  #ofModules = 0;
  #begun = 0;

  /** `isBusy`: calls are in the thread. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** Timers that are not unref'd, and requests under way. */
  get any(): boolean {
    return count() > this.#ofModules;
  }

  /** A handler is about to run. */
  begin(): void {
    this.#begun += 1;
  }

  /** What is started meanwhile belongs to the module, unless it may be a call's. */
  async importing<R>(load: () => Promise<R>): Promise<R> {
    const begun = this.#begun;
    const quiet = begun === 0 || (!this.#isBusy() && !this.any);
    const loaded = await load();
    if (quiet && begun === this.#begun) this.#ofModules = count();
    return loaded;
  }
}

function count(): number {
  let active = 0;
  for (const kind of activeResources()) if (!CONNECTIONS.has(kind)) active += 1;
  return active;
}
