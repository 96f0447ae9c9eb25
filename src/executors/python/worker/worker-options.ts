// What a worker is asked and told, and why it ends.
import type { Clock } from '../../../ports/clock.ts';
import type { LineListener } from './worker-output.ts';

/** Why a worker is no more; also the label of the restart counter. */
export type EndReason =
  | 'aborted'
  | 'closed'
  | 'died'
  | 'flooded'
  | 'output_too_large'
  | 'protocol_violation'
  | 'start_timeout'
  | 'unresponsive';

export interface WorkerRequest {
  /** JSON members of the head, without the id. */
  readonly head: string;
  /** JSON of the arguments and what belongs to them; kept apart so that only who runs the call reads it. */
  readonly body?: string;
}

export interface WorkerOptions<W> {
  readonly maxFrameBytes: number;
  /** Calls run in processes of their own: what one sends can be held against it alone. */
  readonly forks: boolean;
  readonly clock: Clock;
  /** What the worker prints outside any call. */
  readonly listener: LineListener;
  readonly onEnd: (worker: W, reason: EndReason) => void;
  /** A request is over: there is capacity for another. */
  readonly onCapacity: (worker: W) => void;
}
