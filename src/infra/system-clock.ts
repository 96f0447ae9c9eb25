// SystemClock: the machine's own time and timers.
import type { Clock } from '../ports/clock.ts';

/** The longest delay Node's timers keep; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  after(ms: number, task: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(remainingMs, LONGEST_TIMER_MS);
      const next = remainingMs > stepMs ? () => arm(remainingMs - stepMs) : task;
      timer = setTimeout(next, stepMs);
      timer.unref();
    };
    arm(ms);
    return () => clearTimeout(timer);
  }
}
