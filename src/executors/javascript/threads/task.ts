// Task: one call of a handler, for any worker thread, and for whom it is.
import type { PoolTask } from '../../../lib/worker-pool/pool-options.ts';
import type { CallListener } from './pending-call.ts';

export interface Task extends PoolTask {
  readonly request: { readonly url: string; readonly name: string; readonly body: string };
  readonly listener: CallListener;
}
