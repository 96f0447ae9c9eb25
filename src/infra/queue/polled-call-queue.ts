// PolledCallQueue: CallQueue without Redis. The rows are the queue: looked at when somebody offers a call, and every second.
import type { CallQueue } from '../../ports/call-queue.ts';
import type { CallStore } from '../../ports/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface PolledQueueDeps {
  readonly store: Pick<CallStore, 'waiting'>;
  readonly clock: Clock;
  readonly log: Log;
  /** False while there is no database open: looking would open one that nobody needs yet. */
  readonly awake: () => boolean;
}

const POLL_MS = 1_000;

export class PolledCallQueue implements CallQueue {
  readonly #deps: PolledQueueDeps;
  readonly #busy = new Set<string>();
  #run: ((id: string) => Promise<boolean>) | undefined;
  #concurrency = 0;
  #looking = false;
  #again = false;
  #disarm: (() => void) | undefined;

  constructor(deps: PolledQueueDeps) {
    this.#deps = deps;
  }

  async offer(): Promise<void> {
    void this.#look();
  }

  start(run: (id: string) => Promise<boolean>, concurrency: number): void {
    this.#run = run;
    this.#concurrency = concurrency;
    this.#poll();
  }

  stop(): void {
    this.#run = undefined;
    this.#disarm?.();
  }

  async close(): Promise<void> {
    this.stop();
  }

  #poll(): void {
    if (this.#run === undefined) return;
    void this.#look();
    this.#disarm = this.#deps.clock.after(POLL_MS, () => this.#poll());
  }

  /** One look at a time; whoever comes meanwhile has another one made. */
  async #look(): Promise<void> {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#handOut();
      }
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the queue of calls could not be looked at');
    } finally {
      this.#looking = false;
    }
  }

  async #handOut(): Promise<void> {
    const free = this.#concurrency - this.#busy.size;
    if (this.#run === undefined || free <= 0 || !this.#deps.awake()) return;
    // Those just handed out may still be among the waiting.
    const waiting = await this.#deps.store.waiting(free + this.#busy.size);
    const fresh = waiting.filter(({ id }) => !this.#busy.has(id)).slice(0, free);
    for (const { id } of fresh) void this.#runOne(id);
  }

  async #runOne(id: string): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    this.#busy.add(id);
    const had = await run(id);
    this.#busy.delete(id);
    // What could not be had once is not asked for again at once.
    if (had) await this.#look();
  }
}
