// WorkerPool: keeps the workers of one kind alive and hands them calls, first come, first served.
import { isJsonObject } from '../../contract/json.ts';
import type { ToolFailure } from '../../contract/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Gauge, Labelled } from '../../ports/metrics.ts';
import type { Answer } from './answer.ts';
import { cannotStart, poolClosed, queueFull } from './pool-failures.ts';
import type { EndReason, PythonWorker } from './python-worker.ts';
import type { PythonSettings } from './settings.ts';
import { StartCircuit } from './start-circuit.ts';
import { TaskQueue, type Task } from './task-queue.ts';
import { WorkerSeat } from './worker-seat.ts';
import { distinctWarmUps, ignoreLines, type WarmUp, type WorkerStarter } from './worker-starter.ts';

export interface PoolNeeds {
  readonly starter: WorkerStarter;
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: Gauge;
  readonly restarts: Labelled<Counter>;
  readonly settings: PythonSettings;
  /** Runs before a new worker gets calls. */
  readonly beforeWelcome: () => Promise<void>;
}

const CLOSE_GRACE_MS = 1000;

export class WorkerPool {
  readonly #needs: PoolNeeds;
  readonly #circuit: StartCircuit;
  /** Every worker that became ready and has not ended. */
  readonly #seats = new Map<PythonWorker, WorkerSeat>();
  readonly #queue = new TaskQueue();
  /** What functions in use want checked, so that no call pays for an import. */
  readonly #inUse = new Set<WarmUp>();
  readonly #boots = new Set<Promise<void>>();
  #cancelRetry: (() => void) | undefined;
  #lastStartFailure: unknown;
  /** Counts renewals: a worker that began to start before the last one is out of date already. */
  #generation = 0;
  /** Aborted when the pool closes. */
  readonly #closing = new AbortController();

  constructor(needs: PoolNeeds) {
    this.#needs = needs;
    this.#circuit = new StartCircuit(needs.clock);
  }

  /** Rejects with ToolFailure, or with the signal's reason as soon as it aborts. */
  run(task: Task): Promise<Answer> {
    if (task.signal.aborted) return Promise.reject(task.signal.reason as Error);
    const outcome = this.#queue.size === 0 ? this.#tryServe(task) : undefined;
    return outcome ?? this.#enqueue(task);
  }

  /** Has every worker, now and later, import what this check names. */
  keepWarm(warmUp: WarmUp): void {
    const isNew = ![...this.#inUse].some(({ head }) => head === warmUp.head);
    this.#inUse.add(warmUp);
    if (!isNew) return;
    for (const seat of this.#seats.values()) {
      seat.warmUps.push(warmUp);
      this.#next(seat);
    }
  }

  forget(warmUp: WarmUp): void {
    this.#inUse.delete(warmUp);
  }

  /** Replaces every worker by one that imports everything anew; the old ones serve until it is there. */
  renew(): void {
    this.#generation += 1;
    for (const seat of this.#seats.values()) seat.retiring = true;
    this.#fill();
  }

  /** Lets calls that run finish within a second, then ends every worker. */
  async close(): Promise<void> {
    this.#closing.abort(poolClosed());
    this.#cancelRetry?.();
    this.#queue.refuseAll(poolClosed());
    await Promise.all([...this.#seats.keys()].map((worker) => worker.close(CLOSE_GRACE_MS)));
    await Promise.all(this.#boots);
  }

  /** Undefined: no worker has room. */
  #tryServe(task: Task): Promise<Answer> | undefined {
    if (this.#closing.signal.aborted) return undefined;
    let best: WorkerSeat | undefined;
    for (const seat of this.#seats.values()) {
      if (!seat.hasRoomFor(task)) continue;
      if (best === undefined || seat.worker.inFlight < best.worker.inFlight) best = seat;
    }
    return best && this.#serve(best, task);
  }

  async #serve(seat: WorkerSeat, task: Task): Promise<Answer> {
    const { request, listener, signal, deadline, exclusive } = task;
    seat.take(task);
    const limitMs = Number.isFinite(deadline)
      ? Math.max(1, Math.ceil(deadline - this.#needs.clock.now()))
      : null;
    const limited = { ...request, head: `${request.head},"limit_ms":${limitMs}` };
    if (!exclusive) return seat.worker.request(limited, listener, signal);
    // Python code cannot be stopped from inside: the process goes, and the caller has its answer at once.
    const onAbort = () => seat.worker.kill('aborted', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await seat.worker.request(limited, listener);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #enqueue(task: Task): Promise<Answer> {
    this.#fill();
    const refusal = this.#refusal();
    return refusal === undefined ? this.#queue.add(task) : Promise.reject(refusal);
  }

  #refusal(): ToolFailure | undefined {
    if (this.#closing.signal.aborted) return poolClosed();
    const pauseMs = this.#circuit.pauseMs();
    if (pauseMs > 0 && this.#seats.size === 0) return cannotStart(pauseMs, this.#lastStartFailure);
    if (this.#queue.size < this.#needs.settings.maxQueue) return undefined;
    return queueFull();
  }

  /** What happens when a worker has room: imports it still owes, its replacement, its leave, and calls that wait. */
  #next(seat: WorkerSeat): void {
    if (seat.worker.ended || this.#closing.signal.aborted) return;
    if (!seat.isDeaf) this.#upkeep(seat);
    if (!seat.retiring && seat.isWorn(this.#needs.clock.now())) {
      seat.retiring = true;
      this.#fill();
    }
    if (seat.leaving && seat.isFree) {
      void seat.worker.close(CLOSE_GRACE_MS);
      return;
    }
    while (this.#queue.serveNext((task) => this.#tryServe(task))) {
      // Until nobody waits or no worker has room.
    }
  }

  #upkeep(seat: WorkerSeat): void {
    const { starter } = this.#needs;
    for (const warmUp of seat.warmUps.splice(0)) {
      starter.ask(seat.worker, warmUp.head, ignoreLines).then(
        (answer) => warmUp.onAnswer(answer),
        () => undefined,
      );
    }
    if (!seat.isDueForLook()) return;
    starter.ask(seat.worker, '"op":"health"', ignoreLines).then(
      (answer) => {
        const data = answer.ok && isJsonObject(answer.data) ? answer.data : {};
        if (typeof data['resident_bytes'] === 'number') seat.measured(data['resident_bytes']);
      },
      () => undefined,
    );
  }

  /** Starts workers until there are as many as wanted, unless they keep dying at the start. */
  #fill(): void {
    if (this.#closing.signal.aborted) return;
    const pauseMs = this.#circuit.pauseMs();
    if (pauseMs > 0) return this.#pause(pauseMs);
    const staying = [...this.#seats.values()].filter((seat) => !seat.retiring).length;
    for (let count = staying + this.#boots.size; count < this.#needs.settings.workers; count++) {
      const boot: Promise<void> = this.#boot().finally(() => {
        this.#boots.delete(boot);
        this.#fill();
      });
      this.#boots.add(boot);
    }
  }

  #pause(pauseMs: number): void {
    if (this.#seats.size === 0 && this.#boots.size === 0)
      this.#queue.refuseAll(cannotStart(pauseMs, this.#lastStartFailure));
    this.#cancelRetry ??= this.#needs.clock.after(pauseMs, () => {
      this.#cancelRetry = undefined;
      this.#fill();
    });
  }

  async #boot(): Promise<void> {
    const { starter, restarts, log, beforeWelcome } = this.#needs;
    const generation = this.#generation;
    try {
      const worker = await starter.start({
        onEnd: (ended, reason) => this.#onEnd(ended, reason),
        onRoom: (free) => this.#onRoom(free),
        warmUps: () => distinctWarmUps(this.#inUse),
        signal: this.#closing.signal,
      });
      await beforeWelcome();
      this.#circuit.becameReady();
      this.#welcome(worker, generation !== this.#generation);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#lastStartFailure = error;
      this.#circuit.died();
      restarts.with('python', 'start_failed').add();
      log.warn({ executor: 'python', err: error }, 'a Python worker could not be started');
    }
  }

  #welcome(worker: PythonWorker, outdated: boolean): void {
    if (worker.ended) throw new Error('the Python worker ended before it had anything to do.');
    const { settings, clock, workers, restarts } = this.#needs;
    const seat = new WorkerSeat(worker, settings, clock.now());
    seat.retiring = outdated;
    const replaced = [...this.#seats.values()].find((old) => old.retiring && !old.leaving);
    this.#seats.set(worker, seat);
    workers.add(1);
    if (replaced !== undefined) {
      replaced.leaving = true;
      restarts.with('python', 'recycled').add();
      this.#next(replaced);
    }
    if (this.#closing.signal.aborted) void worker.close(CLOSE_GRACE_MS);
    this.#next(seat);
  }

  #onRoom(worker: PythonWorker): void {
    const seat = this.#seats.get(worker);
    if (seat !== undefined) this.#next(seat);
  }

  #onEnd(worker: PythonWorker, reason: EndReason): void {
    if (!this.#seats.delete(worker)) return;
    const { workers, restarts, log } = this.#needs;
    workers.add(-1);
    if (reason !== 'closed') {
      restarts.with('python', reason).add();
      log.warn({ executor: 'python', reason, pid: worker.pid }, 'a Python worker ended and is replaced');
    }
    this.#fill();
  }
}
