// WorkerMaintenance: what a worker owes besides calls: imports of new functions, and a look at its size now and then.
import { isJsonObject } from '../../../contract/json.ts';
import type { PythonSettings } from '../settings.ts';
import type { PythonWorker } from './python-worker.ts';
import { ignoreLines, type WarmUp, type WorkerStarter } from './worker-starter.ts';

type MaintenanceSettings = Pick<PythonSettings, 'maxWorkerAgeMs' | 'maxWorkerBytes'>;

const CALLS_BETWEEN_LOOKS = 100;

export class WorkerMaintenance {
  readonly #starter: WorkerStarter;
  readonly #worker: PythonWorker;
  readonly #since: number;
  #owed: WarmUp[] = [];
  #callsUntilLook = CALLS_BETWEEN_LOOKS;
  #bytes = 0;

  constructor(starter: WorkerStarter, worker: PythonWorker, now: number) {
    this.#starter = starter;
    this.#worker = worker;
    this.#since = now;
  }

  owe(warmUp: WarmUp): void {
    this.#owed.push(warmUp);
  }

  countCall(): void {
    this.#callsUntilLook -= 1;
  }

  isWorn(now: number, { maxWorkerAgeMs, maxWorkerBytes }: MaintenanceSettings): boolean {
    return now - this.#since >= maxWorkerAgeMs || this.#bytes > maxWorkerBytes;
  }

  /** Asks the worker for what it owes; it must be able to hear. */
  run(): void {
    const owed = this.#owed;
    this.#owed = [];
    for (const warmUp of owed) {
      this.#starter.ask(this.#worker, warmUp.head, ignoreLines).then(
        (answer) => warmUp.onAnswer(answer),
        () => undefined,
      );
    }
    if (this.#callsUntilLook > 0) return;
    this.#callsUntilLook = CALLS_BETWEEN_LOOKS;
    this.#starter.ask(this.#worker, '"op":"health"', ignoreLines).then(
      (answer) => {
        const data = answer.ok && isJsonObject(answer.data) ? answer.data : {};
        if (typeof data['resident_bytes'] === 'number') this.#bytes = data['resident_bytes'];
      },
      () => undefined,
    );
  }
}
