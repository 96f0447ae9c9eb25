// ThreadOwner and HostedThread: a worker thread in a host process, from both sides.
import type { ThreadNews } from './host-frames.ts';
import type { ToWorker } from './messages.ts';

export type ThreadEnd =
  | ThreadNews
  | { readonly kind: 'no_host'; readonly cause: unknown }
  | {
      readonly kind: 'host_ended';
      readonly how: string;
      /** What ran in this thread alone can have done it. */
      readonly blamed: boolean;
      /** The process has had threads that were ready. */
      readonly served: boolean;
    };

export interface ThreadOwner {
  /** Nothing runs in it. */
  readonly isFree: boolean;
  onMessage(message: unknown): void;
  /** It is of no more use; native code may still hold it back. */
  onEnd(end: ThreadEnd): void;
  onGone(): void;
  onRetire(): void;
}

export interface HostedThread {
  post(message: ToWorker): void;
  end(): void;
}

/** Why a thread is no more; also the label of the restart counter. */
export type EndReason =
  | 'closed'
  | 'died'
  | 'host_died'
  | 'out_of_memory'
  | 'protocol_violation'
  | 'start_failed'
  | 'unresponsive';
