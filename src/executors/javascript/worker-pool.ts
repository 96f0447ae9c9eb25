// WorkerPool: the worker threads of the executor. One call at a time in each, unless the tool says otherwise.
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Gauge, Labelled } from '../../ports/metrics.ts';
import { HandlerWorker, type EndReason, type WorkerOptions } from './handler-worker.ts';
import type { HandlerText } from './messages.ts';
import type { Answer } from './pending-call.ts';
import type { JavascriptSettings } from './settings.ts';
import { TaskQueue, type Task } from './task-queue.ts';
import type { ThreadHosts } from './thread-hosts.ts';
import { executorClosed, notStarted, queueFull } from './worker-failures.ts';

export interface PoolNeeds {
  readonly settings: JavascriptSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly hosts: ThreadHosts;
  readonly workers: Gauge;
  readonly restarts: Labelled<Counter>;
  readonly onStray: WorkerOptions['onStray'];
}

/** A thread that is ready, and what runs in it. */
interface Seat {
  readonly worker: HandlerWorker;
  calls: number;
  level: number;
  concurrent: boolean;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const CLOSE_WITHIN_MS = 1_000;

export class WorkerPool {
  readonly #needs: PoolNeeds;
  readonly #seats = new Map<HandlerWorker, Seat>();
  readonly #boots = new Set<HandlerWorker>();
  /** Ended, but held back by native code. */
  readonly #ending = new Set<HandlerWorker>();
  readonly #queue = new TaskQueue();
  readonly #modules = new Map<string, HandlerText>();
  #failedStarts = 0;
  #pausedUntil = 0;
  #closed = false;

  constructor(needs: PoolNeeds) {
    this.#needs = needs;
  }

  /** Every thread, now and later, imports the module ahead of its first call. */
  use(module: HandlerText): void {
    this.#modules.set(module.url, module);
    for (const worker of [...this.#seats.keys(), ...this.#boots]) worker.load(module);
    this.#fill();
  }

  forget(url: string): void {
    this.#modules.delete(url);
    for (const seat of this.#seats.values()) this.#next(seat);
  }

  /** Replaces every thread by one that imports everything anew, as soon as its calls are over. */
  renew(): void {
    for (const worker of [...this.#seats.keys(), ...this.#boots]) worker.spoiled = true;
    for (const seat of this.#seats.values()) this.#next(seat);
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  run(task: Task): Promise<Answer> {
    if (task.signal.aborted) return Promise.reject(task.signal.reason as Error);
    const outcome = this.#queue.waitingAt(task.level) === 0 ? this.#tryServe(task) : undefined;
    return outcome ?? this.#enqueue(task);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.refuseAll(executorClosed());
    for (const worker of [...this.#seats.keys(), ...this.#boots]) worker.kill('closed', executorClosed());
    const gone = Promise.all([...this.#ending].map((worker) => worker.gone));
    await new Promise<void>((resolve) => {
      const disarm = this.#needs.clock.after(CLOSE_WITHIN_MS, resolve);
      void gone.then(() => (disarm(), resolve()));
    });
    await this.#needs.hosts.close();
  }

  #enqueue(task: Task): Promise<Answer> {
    if (this.#closed) return Promise.reject(executorClosed());
    if (this.#queue.size >= this.#needs.settings.maxQueue) return Promise.reject(queueFull());
    const answer = this.#queue.add(task);
    this.#fill();
    return answer;
  }

  /** Undefined: there is no room. */
  #tryServe(task: Task): Promise<Answer> | undefined {
    const seat = this.#seatFor(task);
    if (seat === undefined) return undefined;
    const { request, listener, signal, level, concurrent } = task;
    if (seat.worker.isFree) Object.assign(seat, { level, concurrent });
    seat.calls += 1;
    return seat.worker.request({ kind: 'call', ...request }, listener, signal);
  }

  #seatFor({ level, concurrent }: Task): Seat | undefined {
    const { workers, callsPerWorker } = this.#needs.settings;
    let free: Seat | undefined;
    let shared: Seat | undefined;
    let busy = 0;
    for (const seat of this.#seats.values()) {
      if (seat.worker.spoiled) continue;
      if (seat.worker.isFree) {
        free ??= seat;
        continue;
      }
      if (seat.level !== level) continue;
      busy += 1;
      const room = seat.concurrent && seat.worker.inFlight < callsPerWorker;
      if (room && (shared === undefined || seat.worker.inFlight < shared.worker.inFlight)) shared = seat;
    }
    if (free !== undefined && busy < workers) return free;
    return concurrent ? shared : undefined;
  }

  /** What happens when a thread has room: its leave, or calls that wait. */
  #next(seat: Seat): void {
    const { worker } = seat;
    const { maxCallsPerWorker, workers } = this.#needs.settings;
    worker.spoiled ||= seat.calls >= maxCallsPerWorker;
    if (worker.spoiled && worker.inFlight === 0) return worker.kill('recycled', executorClosed());
    this.#queue.serve((task) => this.#tryServe(task));
    const tooMany = this.#seats.size > (this.#modules.size === 0 ? 0 : workers);
    if (worker.isFree && tooMany) worker.kill('closed', executorClosed());
  }

  /** As many threads as calls want, on each level no more than the settings say. */
  #fill(): void {
    const { settings, clock } = this.#needs;
    const pauseMs = this.#pausedUntil - clock.now();
    if (this.#closed) return;
    if (pauseMs > 0) return this.#refuseWaiting(pauseMs);
    const wanted = this.#wanted();
    for (let count = this.#fitSeats() + this.#boots.size; count < wanted; count += 1) {
      // Threads that cannot be ended use up memory: no more of them than of the others.
      if (this.#ending.size >= settings.workers) return;
      this.#boot();
    }
  }

  #fitSeats(): number {
    let count = 0;
    for (const { worker } of this.#seats.values()) if (!worker.spoiled) count += 1;
    return count;
  }

  #wanted(): number {
    const busy = new Map<number, number>();
    for (const { worker, level } of this.#seats.values()) {
      if (!worker.isFree && !worker.spoiled) busy.set(level, (busy.get(level) ?? 0) + 1);
    }
    let wanted = 0;
    for (const level of new Set([...busy.keys(), ...this.#queue.levels])) {
      wanted += Math.min(this.#needs.settings.workers, (busy.get(level) ?? 0) + this.#queue.waitingAt(level));
    }
    return Math.max(wanted, this.#modules.size > 0 ? 1 : 0);
  }

  #boot(): void {
    const worker = new HandlerWorker({
      ...this.#needs,
      onEnd: (ended, reason) => this.#onEnd(ended, reason),
      onRoom: (free) => {
        const seat = this.#seats.get(free);
        if (seat !== undefined) this.#next(seat);
      },
    });
    this.#boots.add(worker);
    for (const module of this.#modules.values()) worker.load(module);
    worker.ready.then(
      () => this.#welcome(worker),
      () => {},
    );
  }

  #welcome(worker: HandlerWorker): void {
    if (!this.#boots.delete(worker)) return;
    this.#failedStarts = 0;
    this.#needs.workers.add(1);
    const seat: Seat = { worker, calls: 0, level: 0, concurrent: false };
    this.#seats.set(worker, seat);
    this.#next(seat);
  }

  #onEnd(worker: HandlerWorker, reason: EndReason): void {
    const { workers, restarts, log } = this.#needs;
    this.#ending.add(worker);
    void worker.gone.then(() => {
      this.#ending.delete(worker);
      this.#fill();
    });
    if (this.#seats.delete(worker)) workers.add(-1);
    else if (this.#boots.delete(worker) && reason !== 'closed' && reason !== 'host_died') this.#pause();
    if (reason !== 'closed') {
      restarts.with('javascript', reason).add();
      const level = reason === 'recycled' ? 'info' : 'warn';
      log[level]({ executor: 'javascript', reason }, 'a JavaScript worker thread ended and is replaced');
    }
    this.#fill();
  }

  #pause(): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failedStarts);
    this.#failedStarts += 1;
    this.#pausedUntil = this.#needs.clock.now() + pauseMs;
    this.#needs.clock.after(pauseMs, () => this.#fill());
  }

  #refuseWaiting(retryAfterMs: number): void {
    if (this.#seats.size > 0 || this.#boots.size > 0) return;
    this.#queue.refuseAll(notStarted('No worker thread can be started at the moment.', { retryAfterMs }));
  }
}
