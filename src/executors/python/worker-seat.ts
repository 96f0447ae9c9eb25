// WorkerSeat: a ready worker, with what its pool must know to give it the right calls.
import type { PythonSettings } from './settings.ts';
import type { PythonWorker } from './python-worker.ts';
import type { Task } from './task-queue.ts';
import type { WarmUp } from './worker-starter.ts';

type SeatSettings = Pick<
  PythonSettings,
  'callsPerWorker' | 'maxCallsPerWorker' | 'maxWorkerAgeMs' | 'maxWorkerBytes'
>;

const CALLS_BETWEEN_LOOKS = 100;

export class WorkerSeat {
  readonly worker: PythonWorker;
  readonly #settings: SeatSettings;
  readonly #since: number;
  /** Checks that the worker has still to run. */
  readonly warmUps: WarmUp[] = [];
  /** At its last calls: serves until a replacement is there … */
  retiring = false;
  /** … and then leaves as soon as it is free. */
  leaving = false;
  #calls = 0;
  #nextLook = CALLS_BETWEEN_LOOKS;
  #bytes = 0;
  #exclusive = false;
  #tenant: string | undefined;

  constructor(worker: PythonWorker, settings: SeatSettings, now: number) {
    this.worker = worker;
    this.#settings = settings;
    this.#since = now;
  }

  get isFree(): boolean {
    return this.worker.inFlight === 0;
  }

  /** A call that cannot be interrupted runs, and reads nothing of what is asked meanwhile. */
  get isDeaf(): boolean {
    return this.#exclusive && !this.isFree;
  }

  /** What a tenant's calls leave in a worker is swept away when the last of them ends, so no other's may be there. */
  hasRoomFor({ exclusive, tenant }: Task): boolean {
    if (this.leaving || this.worker.ended || this.worker.isInDoubt) return false;
    if (this.isFree) return true;
    if (exclusive || this.#exclusive) return false;
    if (tenant !== undefined && this.#tenant !== undefined && tenant !== this.#tenant) return false;
    return this.worker.inFlight < this.#settings.callsPerWorker;
  }

  take({ exclusive, tenant }: Task): void {
    this.#calls += 1;
    this.#exclusive = exclusive;
    if (this.isFree || tenant !== undefined) this.#tenant = tenant;
  }

  isWorn(now: number): boolean {
    const { maxCallsPerWorker, maxWorkerAgeMs, maxWorkerBytes } = this.#settings;
    return (
      this.#calls >= maxCallsPerWorker || now - this.#since >= maxWorkerAgeMs || this.#bytes > maxWorkerBytes
    );
  }

  /** True now and then: time to ask how large the worker has grown. */
  isDueForLook(): boolean {
    if (this.#calls < this.#nextLook) return false;
    this.#nextLook = this.#calls + CALLS_BETWEEN_LOOKS;
    return true;
  }

  measured(bytes: number): void {
    this.#bytes = bytes;
  }
}
