// TaskQueue: tasks that wait for a slot. Fair between tenants, first in first out inside a tenant; an aborted task leaves by itself.
import { mayWait } from './fair-share.ts';

export interface QueuedTask {
  /** Undefined: the gateway itself asks, for nobody. */
  readonly tenant: string | undefined;
  /** Tasks of different levels never wait for each other: a step of a call must not wait behind calls that wait for steps. */
  readonly level: number;
  readonly signal: AbortSignal;
}

interface Waiting<T, R> {
  readonly task: T;
  /** Out of the queue, with what happens next. */
  leave(outcome: Promise<R>): void;
}

/** The waiting tasks of one tenant on one level. */
interface Lane<T, R> {
  readonly tenant: string | undefined;
  readonly level: number;
  readonly waiting: Set<Waiting<T, R>>;
}

/** Undefined: there is no slot for it now. */
export type Offer<T, R> = (task: T) => Promise<R> | undefined;

export class TaskQueue<T extends QueuedTask, R> {
  readonly #maxQueue: number;
  /** In the order of their turns: a lane that was served goes to the end. Empty lanes are dropped. */
  readonly #lanes = new Map<string, Lane<T, R>>();
  readonly #byTenant = new Map<string | undefined, number>();
  #size = 0;

  constructor(maxQueue: number) {
    this.#maxQueue = maxQueue;
  }

  get size(): number {
    return this.#size;
  }

  get levels(): ReadonlySet<number> {
    return new Set([...this.#lanes.values()].map(({ level }) => level));
  }

  waitingAt(level: number): number {
    let count = 0;
    for (const lane of this.#lanes.values()) if (lane.level === level) count += lane.waiting.size;
    return count;
  }

  tenantsAt(level: number): readonly (string | undefined)[] {
    return [...this.#lanes.values()].filter((lane) => lane.level === level).map(({ tenant }) => tenant);
  }

  /** Whether a task of the same tenant and level waits: a newer one must not overtake it. */
  hasWaiting(task: QueuedTask): boolean {
    return this.#lanes.has(laneKey(task));
  }

  hasCapacityFor({ tenant }: QueuedTask): boolean {
    return mayWait(this.#maxQueue, this.#size, this.#byTenant.get(tenant) ?? 0);
  }

  /** Settles as the offer that takes it says, or rejects with the signal's reason as soon as it aborts. */
  add(task: T): Promise<R> {
    const { signal } = task;
    const key = laneKey(task);
    return new Promise((resolve) => {
      const onAbort = () => waiting.leave(Promise.reject(signal.reason as Error));
      const waiting: Waiting<T, R> = {
        task,
        leave: (outcome) => {
          this.#remove(key, waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const lane = this.#lanes.get(key);
      if (lane === undefined) {
        this.#lanes.set(key, { tenant: task.tenant, level: task.level, waiting: new Set([waiting]) });
      } else lane.waiting.add(waiting);
      this.#count(task.tenant, 1);
    });
  }

  /**
   * Offers the longest-waiting task of each lane until nobody waits or none is taken. Who holds the fewest slots comes
   * first; of those that hold as many, whose turn was longest ago.
   */
  serve(heldBy: (tenant: string | undefined, level: number) => number, offer: Offer<T, R>): void {
    while (this.#serveOne(heldBy, offer)) {
      // Each task that is taken changes who holds how much.
    }
  }

  refuseAll(failure: Error): void {
    for (const { waiting } of this.#lanes.values()) {
      for (const each of waiting) each.leave(Promise.reject(failure));
    }
  }

  #serveOne(heldBy: (tenant: string | undefined, level: number) => number, offer: Offer<T, R>): boolean {
    const lanes = [...this.#lanes].map(([key, lane]) => ({
      key,
      lane,
      held: heldBy(lane.tenant, lane.level),
    }));
    if (lanes.length > 1) lanes.sort((one, other) => one.held - other.held);
    for (const { key, lane } of lanes) {
      const [first] = lane.waiting;
      const outcome = first && offer(first.task);
      if (outcome === undefined) continue;
      first?.leave(outcome);
      if (lane.waiting.size > 0) {
        this.#lanes.delete(key);
        this.#lanes.set(key, lane);
      }
      return true;
    }
    return false;
  }

  #remove(key: string, waiting: Waiting<T, R>): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined || !lane.waiting.delete(waiting)) return;
    if (lane.waiting.size === 0) this.#lanes.delete(key);
    this.#count(lane.tenant, -1);
  }

  #count(tenant: string | undefined, change: 1 | -1): void {
    this.#size += change;
    const left = (this.#byTenant.get(tenant) ?? 0) + change;
    if (left === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, left);
  }
}

function laneKey({ tenant, level }: QueuedTask): string {
  return JSON.stringify([level, tenant ?? null]);
}
