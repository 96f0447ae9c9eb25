// Work that has so much time and no more: it is told by a signal when that is over.
import type { Timers } from './timers.ts';

export class LateError extends Error {
  constructor(ms: number) {
    super(`it took longer than ${ms} ms`);
    this.name = 'LateError';
  }
}

export interface Limit {
  readonly ms: number;
  /** Ends the work as well. */
  readonly signal?: AbortSignal;
  /** What the work's signal says when its time is over; made then, where every call has such a limit: an error costs more than the limit. Left out: a LateError. */
  readonly late?: Error | (() => Error);
}

/**
 * Waits for the work, which has to heed its signal. Rejects with the outer signal's reason when that aborts, with `late`
 * when the time is over, else as the work does.
 */
export async function within<Result>(
  clock: Timers,
  { ms, signal, late = () => new LateError(ms) }: Limit,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const time = new AbortController();
  const disarm = clock.after(ms, () => time.abort(typeof late === 'function' ? late() : late));
  try {
    return await work(signal === undefined ? time.signal : AbortSignal.any([signal, time.signal]));
  } catch (error) {
    signal?.throwIfAborted();
    throw time.signal.aborted ? time.signal.reason : error;
  } finally {
    disarm();
  }
}
