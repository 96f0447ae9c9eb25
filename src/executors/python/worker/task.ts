// Task: one request to any worker of a pool, and for whom it is.
import type { PoolTask } from '../../../lib/worker-pool/pool-options.ts';
import type { CallListener } from './pending-call.ts';
import type { WorkerRequest } from './worker-options.ts';

export interface Task extends PoolTask {
  readonly request: WorkerRequest;
  readonly listener: CallListener;
  /** Epoch milliseconds; the worker ends the call then, whatever the gateway does. */
  readonly deadline: number;
}
