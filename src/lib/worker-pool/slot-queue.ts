// SlotQueue: so many tasks at one time, shared fairly between tenants; the others wait, none longer than its call.
import { mayTakeSlot } from './fair-share.ts';
import { TaskQueue } from './task-queue.ts';

export interface SlotQueueOptions {
  /** Tasks that one tenant may run at one time; one more slot is kept for a tenant that holds none. */
  readonly slots: number;
  /** Tasks of one tenant that may wait while nobody else's do; of all tenants, twice as many. */
  readonly maxQueue: number;
  /** What a task is refused with when as many wait as may wait. */
  readonly queueFull: () => Error;
}

interface SlotTask<R> {
  readonly tenant: string;
  readonly level: 0;
  readonly signal: AbortSignal;
  readonly start: () => Promise<R>;
}

export class SlotQueue<R> {
  readonly #options: SlotQueueOptions;
  readonly #queue: TaskQueue<SlotTask<R>, R>;
  /** Slots by the tenant that holds them. */
  readonly #held = new Map<string, number>();
  #inUse = 0;

  constructor(options: SlotQueueOptions) {
    this.#options = options;
    this.#queue = new TaskQueue(options.maxQueue);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Settles as `start` does, or rejects with the signal's reason when that aborts before it is its turn. */
  run(start: () => Promise<R>, tenant: string, signal: AbortSignal): Promise<R> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const task: SlotTask<R> = { tenant, level: 0, signal, start };
    // Whoever waits was offered every slot that is free: a tenant of whom nobody waits takes nothing from them.
    const running = this.#queue.hasWaiting(task) ? undefined : this.#offer(task);
    if (running !== undefined) return running;
    return this.#queue.hasCapacityFor(task)
      ? this.#queue.add(task)
      : Promise.reject(this.#options.queueFull());
  }

  #offer = (task: SlotTask<R>): Promise<R> | undefined => {
    const held = this.#held.get(task.tenant) ?? 0;
    if (!mayTakeSlot(this.#options.slots, this.#inUse, held)) return undefined;
    this.#inUse += 1;
    this.#held.set(task.tenant, held + 1);
    return this.#hold(task);
  };

  async #hold({ tenant, start }: SlotTask<R>): Promise<R> {
    try {
      return await start();
    } finally {
      this.#release(tenant);
    }
  }

  #release(tenant: string): void {
    this.#inUse -= 1;
    const left = (this.#held.get(tenant) ?? 1) - 1;
    if (left === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, left);
    this.#queue.serve((waiting) => this.#held.get(waiting ?? '') ?? 0, this.#offer);
  }
}
