// FakePool: a WorkerPool whose workers are objects: tasks run until the test ends them, and everything is written down.
import type {
  PoolSettings,
  PoolTask,
  PoolWorker,
  WorkerEvents,
} from '../../src/lib/worker-pool/pool-options.ts';
import { NotStarted } from '../../src/lib/worker-pool/pool-options.ts';
import { WorkerPool } from '../../src/lib/worker-pool/worker-pool.ts';
import { FakeClock } from './fake-clock.ts';

export interface FakeTask extends PoolTask {
  readonly name: string;
}

interface Running {
  readonly task: FakeTask;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

export class FakePoolWorker implements PoolWorker {
  readonly runs: Running[] = [];
  /** Everybody whose task ever ran in it. */
  readonly owners = new Set<string | undefined>();
  ended = false;
  isSound = true;
  keepsOwner = false;
  isSettling = false;
  spoiled = false;
  readonly events: WorkerEvents<FakePoolWorker>;

  constructor(events: WorkerEvents<FakePoolWorker>) {
    this.events = events;
  }

  get running(): number {
    return this.runs.length;
  }

  get awaited(): number {
    return this.runs.length;
  }

  end(reason: string, failure: Error): void {
    if (this.ended) return;
    this.ended = true;
    for (const { reject } of this.runs.splice(0)) reject(failure);
    this.events.onEnd(this, reason);
  }
}

export interface Started {
  readonly task: FakeTask;
  readonly worker: FakePoolWorker;
}

export class FakePool {
  readonly clock = new FakeClock();
  readonly workers: FakePoolWorker[] = [];
  readonly replaced: string[] = [];
  /** Called when a task begins, before it counts as running. */
  onStart: (started: Started) => void = () => undefined;
  startFails = false;
  readonly pool: WorkerPool<FakePoolWorker, FakeTask, string>;

  constructor(settings: Partial<PoolSettings> = {}, oneOwner = false, readyWorkers = settings.workers ?? 1) {
    const all = { workers: 1, callsPerWorker: 1, maxCallsPerWorker: 1000, maxQueue: 1000, ...settings };
    this.pool = new WorkerPool<FakePoolWorker, FakeTask, string>({
      settings: all,
      clock: this.clock,
      oneOwner,
      readyWorkers: () => readyWorkers,
      failures: {
        queueFull: () => new Error('queue full'),
        cannotStart: () => new Error('cannot start'),
        closed: () => new Error('closed'),
      },
      reporter: {
        count: () => undefined,
        replaced: (reason) => void this.replaced.push(reason),
        startFailed: () => undefined,
      },
      start: async (events) => {
        if (this.startFails) throw new Error('no worker here');
        const worker = new FakePoolWorker(events);
        this.workers.push(worker);
        return Promise.resolve(worker);
      },
      run: (worker, task) => this.#run(worker, task),
      close: (worker) => Promise.resolve(worker.end('closed', new NotStarted())),
    });
  }

  get alive(): readonly FakePoolWorker[] {
    return this.workers.filter(({ ended }) => !ended);
  }

  get running(): readonly Started[] {
    return this.alive.flatMap((worker) => worker.runs.map(({ task }) => ({ task, worker })));
  }

  finish(name: string): void {
    for (const worker of this.alive) {
      const at = worker.runs.findIndex(({ task }) => task.name === name);
      const [run] = at < 0 ? [] : worker.runs.splice(at, 1);
      if (run === undefined) continue;
      run.resolve(name);
      worker.events.onCapacity(worker);
      return;
    }
    throw new Error(`${name} does not run`);
  }

  #run(worker: FakePoolWorker, task: FakeTask): Promise<string> {
    this.onStart({ task, worker });
    worker.owners.add(task.owner);
    return new Promise((resolve, reject) => {
      const run = { task, resolve, reject };
      worker.runs.push(run);
      const onAbort = () => {
        const at = worker.runs.indexOf(run);
        if (at < 0) return;
        worker.runs.splice(at, 1);
        reject(task.signal.reason as Error);
        worker.events.onCapacity(worker);
      };
      task.signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

const NEVER = new AbortController().signal;

export function fakeTask(name: string, tenant: string | undefined, more: Partial<FakeTask> = {}): FakeTask {
  return { name, tenant, owner: tenant, exclusive: true, level: 0, signal: NEVER, ...more };
}
