// Leftovers: whether something that calls have started in this thread is not over yet.
import { HeldResources } from './held-resources.ts';

// Taken before any handler is loaded.
const activeResources = process.getActiveResourcesInfo.bind(process);

export class Leftovers {
  readonly #isBusy: () => boolean;
  /** What does not keep the thread alive: nothing else knows of it. */
  readonly #held: HeldResources;
  /** Timers, connections and the like of the modules themselves. */
  #ofModules = 0;
  #begun = 0;

  /** `isBusy`: calls are in the thread. `isInCall`: what runs just now belongs to one, or did. */
  constructor(isBusy: () => boolean, isInCall: () => boolean) {
    this.#isBusy = isBusy;
    this.#held = new HeldResources(isInCall);
  }

  /** Timers, open connections, and requests under way. */
  get any(): boolean {
    return this.#held.any || count() > this.#ofModules;
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

/** Ports of calls are among what is held; the thread has one of its own. */
function count(): number {
  let active = 0;
  for (const kind of activeResources()) if (kind !== 'MessagePort') active += 1;
  return active;
}
