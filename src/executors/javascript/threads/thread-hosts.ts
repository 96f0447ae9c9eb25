// ThreadHosts: a process for threads, started with the first of them and replaced when it dies or has to be given up.
import { ThreadHost, type HostNeeds } from './thread-host.ts';
import type { HostedThread, ThreadOwner } from './thread-owner.ts';

/** Processes that wait for the last calls in them. */
const MOST_RETIRED = 2;
const NO_THREAD: HostedThread = { post: () => {}, end: () => {} };

export class ThreadHosts {
  readonly #needs: HostNeeds;
  readonly #all = new Set<ThreadHost>();
  #current: ThreadHost | undefined;
  #closed = false;

  constructor(needs: HostNeeds) {
    this.#needs = needs;
  }

  /** Threads will soon be wanted. */
  warm(): void {
    if (!this.#closed) this.#current ??= this.#start();
  }

  open(owner: ThreadOwner): HostedThread {
    if (this.#closed) {
      queueMicrotask(() => {
        owner.onGone();
        owner.onEnd({ kind: 'no_host', cause: 'the executor is closed' });
      });
      return NO_THREAD;
    }
    this.#current ??= this.#start();
    return this.#current.open(owner);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((host) => host.close()));
  }

  #start(): ThreadHost {
    const host = new ThreadHost({
      ...this.#needs,
      onRetire: (retired) => this.#giveUp(retired),
      onEnd: (ended) => {
        this.#all.delete(ended);
        if (this.#current === ended) this.#current = undefined;
      },
    });
    this.#all.add(host);
    return host;
  }

  /** Its calls may end in their own time, unless those of too many others have to be waited for as well. */
  #giveUp(retired: ThreadHost): void {
    if (this.#current === retired) this.#current = undefined;
    const waiting = [...this.#all].filter((host) => host !== this.#current);
    for (const host of waiting.slice(0, -MOST_RETIRED)) host.end('with the process that it ran in');
  }
}
