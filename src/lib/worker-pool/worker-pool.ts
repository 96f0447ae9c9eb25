// WorkerPool: keeps workers alive and gives them tasks: slots and queue shared fairly between tenants, starts with back-off, recycling.
import { KEPT_SLOTS } from './fair-share.ts';
import { NotStarted, type PoolOptions, type PoolTask, type PoolWorker } from './pool-options.ts';
import { SlotBoard } from './slot-board.ts';
import type { Slot } from './slot.ts';
import { StartBackOff } from './start-back-off.ts';
import { TaskQueue } from './task-queue.ts';

export class WorkerPool<W extends PoolWorker, T extends PoolTask, R> {
  readonly #options: PoolOptions<W, T, R>;
  readonly #backOff: StartBackOff;
  /** Every worker that became ready and has not ended. */
  readonly #slots: SlotBoard<W>;
  readonly #queue: TaskQueue<T, R>;
  readonly #starts = new Set<Promise<void>>();
  #cancelRetry: (() => void) | undefined;
  #lastStartFailure: unknown;
  /** Counts renewals: a worker that began to start before the last one is out of date already. */
  #generation = 0;
  #uses = 0;
  /** Aborted when the pool closes. */
  readonly #closing = new AbortController();

  constructor(options: PoolOptions<W, T, R>) {
    const { clock, settings, oneOwner } = options;
    this.#options = options;
    this.#backOff = new StartBackOff(clock);
    this.#queue = new TaskQueue(settings.maxQueue);
    this.#slots = new SlotBoard({ settings, oneOwner, waiting: (level) => this.#queue.tenantsAt(level) });
  }

  /** Rejects as `run` of the worker does, with a failure of the pool, or with the signal's reason as soon as it aborts. */
  run(task: T): Promise<R> {
    if (task.signal.aborted) return Promise.reject(task.signal.reason as Error);
    // Whoever waits was offered every slot there is: a tenant of whom nobody waits takes nothing from them.
    const outcome = this.#queue.hasWaiting(task) ? undefined : this.#offer(task);
    return outcome ?? this.#enqueue(task);
  }

  /** To be called when something changed for all workers: what they owe, whether they are fit, how many are wanted. */
  tend(): void {
    for (const slot of this.#slots.all) this.#next(slot);
    this.#fill();
  }

  /** Replaces every worker by a fresh one; the old ones serve until it is there. */
  renew(): void {
    this.#generation += 1;
    for (const slot of this.#slots.all) slot.retiring = true;
    this.#fill();
  }

  /** Refuses whoever waits, and ends every worker. */
  async close(): Promise<void> {
    const closed = this.#options.failures.closed();
    this.#closing.abort(closed);
    this.#cancelRetry?.();
    this.#queue.refuseAll(closed);
    await Promise.all([...this.#slots.all].map(({ worker }) => this.#options.close(worker)));
    await Promise.all(this.#starts);
  }

  readonly #offer = (task: T): Promise<R> | undefined => {
    if (this.#closing.signal.aborted) return undefined;
    const slot = this.#slots.find(task);
    return slot && this.#serve(slot, task);
  };

  async #serve(slot: Slot<W>, task: T): Promise<R> {
    slot.take(task, (this.#uses += 1));
    try {
      return await this.#options.run(slot.worker, task);
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      task.signal.throwIfAborted();
      this.#closing.signal.throwIfAborted();
      return this.#offer(task) ?? this.#wait(task);
    }
  }

  #enqueue(task: T): Promise<R> {
    const refusal = this.#refusal(task);
    return refusal === undefined ? this.#wait(task) : Promise.reject(refusal);
  }

  #wait(task: T): Promise<R> {
    const outcome = this.#queue.add(task);
    this.#evictBound();
    this.#fill();
    return outcome;
  }

  #refusal(task: T): Error | undefined {
    const { failures } = this.#options;
    if (this.#closing.signal.aborted) return failures.closed();
    const pauseMs = this.#backOff.pauseMs();
    if (pauseMs > 0 && this.#slots.size === 0) return failures.cannotStart(pauseMs, this.#lastStartFailure);
    return this.#queue.hasCapacityFor(task) ? undefined : failures.queueFull();
  }

  /** What happens when a worker has capacity: what it owes, its replacement, its end, and tasks that wait. */
  #next(slot: Slot<W>): void {
    if (slot.worker.ended || this.#closing.signal.aborted) return;
    if (!slot.isDeaf) this.#options.maintain?.(slot.worker);
    if (!slot.retiring && this.#isWorn(slot)) slot.retiring = true;
    const { spoiled, awaited } = slot.worker;
    if ((slot.leaving || spoiled) && awaited === 0) this.#end(slot);
    this.#serveWaiting();
    if (slot.isFree && !slot.leaving && this.#hasTooMany()) this.#close(slot);
  }

  #serveWaiting(): void {
    if (this.#queue.size > 0) {
      this.#queue.serve((tenant, level) => this.#slots.heldBy(tenant, level), this.#offer);
      this.#evictBound();
    }
    this.#fill();
  }

  #isWorn(slot: Slot<W>): boolean {
    const { settings } = this.#options;
    return slot.tasks >= settings.maxCallsPerWorker || this.#options.isWorn?.(slot.worker) === true;
  }

  #hasTooMany(): boolean {
    const staying = this.#slots.staying();
    const most = this.#options.readyWorkers() === 0 ? 0 : this.#options.settings.workers + KEPT_SLOTS;
    return staying.length > Math.max(most, this.#wanted(staying));
  }

  #end(slot: Slot<W>): void {
    if (slot.worker.spoiled && !slot.leaving) this.#options.reporter.replaced('recycled');
    this.#close(slot);
  }

  #close(slot: Slot<W>): void {
    slot.leaving = true;
    if (slot.closing) return;
    slot.closing = true;
    void this.#options.close(slot.worker);
  }

  /** As soon as there are as many workers as may be kept, those bound to their owner give way to unused ones. */
  #evictBound(): void {
    for (let starting = this.#starts.size; starting < this.#queue.size; starting += 1) {
      const [slot] = this.#slots.bound();
      if (slot === undefined || this.#mayKeepMore()) return;
      this.#options.reporter.replaced('recycled');
      this.#close(slot);
    }
  }

  /** Workers that became bound to their owner are kept beside those that are wanted, where there is capacity for both. */
  #mayKeepMore(): boolean {
    const { oneOwner, settings } = this.#options;
    return !oneOwner && this.#slots.staying().length + this.#starts.size < settings.workers + KEPT_SLOTS;
  }

  /** Starts workers until there are as many as wanted, unless they keep dying before they are ready. */
  #fill(): void {
    if (this.#closing.signal.aborted) return;
    const pauseMs = this.#backOff.pauseMs();
    if (pauseMs > 0) return this.#pause(pauseMs);
    const staying = this.#slots.staying();
    if (this.#queue.size === 0 && staying.length >= this.#options.readyWorkers()) return;
    const [wanted, bound] = [this.#wanted(staying), this.#queue.size === 0 ? 0 : this.#slots.bound().length];
    for (let count = staying.length + this.#starts.size; count < wanted + bound; count += 1) {
      if (count >= wanted && !this.#mayKeepMore()) return;
      if (this.#options.mayStart?.() === false) return;
      const start: Promise<void> = this.#start().finally(() => {
        this.#starts.delete(start);
        this.#serveWaiting();
      });
      this.#starts.add(start);
    }
  }

  #wanted(staying: readonly Slot<W>[]): number {
    const { settings } = this.#options;
    const busy = new Map<number, number>();
    for (const { isFree, level } of staying) if (!isFree) busy.set(level, (busy.get(level) ?? 0) + 1);
    let wanted = 0;
    for (const level of new Set([...busy.keys(), ...this.#queue.levels])) {
      const most = settings.workers + (this.#tenantsAt(level) > 1 ? KEPT_SLOTS : 0);
      wanted += Math.min(most, (busy.get(level) ?? 0) + this.#queue.waitingAt(level));
    }
    return Math.max(wanted, this.#options.readyWorkers());
  }

  /** Tenants that hold a slot or wait for one. */
  #tenantsAt(level: number): number {
    const all = [...this.#queue.tenantsAt(level), ...this.#slots.tenantsAt(level)];
    return new Set(all.filter((tenant) => tenant !== undefined)).size;
  }

  #pause(pauseMs: number): void {
    const { failures, clock } = this.#options;
    if (this.#slots.size === 0 && this.#starts.size === 0)
      this.#queue.refuseAll(failures.cannotStart(pauseMs, this.#lastStartFailure));
    this.#cancelRetry ??= clock.after(pauseMs, () => {
      this.#cancelRetry = undefined;
      this.#fill();
    });
  }

  async #start(): Promise<void> {
    const generation = this.#generation;
    try {
      const worker = await this.#options.start({
        onEnd: (ended, reason) => this.#onEnd(ended, reason),
        onCapacity: (free) => {
          const slot = this.#slots.of(free);
          if (slot !== undefined) this.#next(slot);
        },
        signal: this.#closing.signal,
      });
      if (worker.ended) throw new Error('the worker ended before it had anything to do.');
      this.#backOff.becameReady();
      this.#welcome(worker, generation !== this.#generation);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#lastStartFailure = error;
      this.#backOff.died();
      this.#options.reporter.startFailed(error);
    }
  }

  #welcome(worker: W, outdated: boolean): void {
    const { reporter } = this.#options;
    const replaced = [...this.#slots.all].find((old) => old.retiring && !old.leaving);
    const slot = this.#slots.add(worker);
    slot.retiring = outdated;
    reporter.count(1);
    if (replaced !== undefined) {
      replaced.leaving = true;
      reporter.replaced('recycled');
      this.#next(replaced);
    }
    if (this.#closing.signal.aborted) void this.#options.close(worker);
    this.#next(slot);
  }

  #onEnd(worker: W, reason: string): void {
    if (!this.#slots.remove(worker)) return;
    const { reporter } = this.#options;
    reporter.count(-1);
    if (reason !== 'closed') reporter.replaced(reason);
    this.#serveWaiting();
  }
}
