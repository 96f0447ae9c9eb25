// SystemClock: the machine's own time and timers.
import type { Clock } from '../../ports/clock.ts';

/** The longest delay Node's timers keep; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** When the time that never goes back was zero: of all clocks of a process the same. */
const ORIGIN = Date.now() - performance.now();

export class SystemClock implements Clock {
  now(): number {
    return Math.floor(ORIGIN + performance.now());
  }

  wall(moment?: number): number {
    return moment === undefined ? Date.now() : Date.now() - (this.now() - moment);
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
