// SystemClock: the machine's own time and timers.
import type { Clock } from '../../ports/clock.ts';

/** The longest delay Node's timers keep; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A timer that comes so much later than it should says that the event loop was held up, or the process not let run. */
const LATE_MS = 25;

/** When the time that never goes back was zero: of all clocks of a process the same. */
const ORIGIN = Date.now() - performance.now();

export class SystemClock implements Clock {
  now(): number {
    return Math.floor(ORIGIN + performance.now());
  }

  wall(moment?: number): number {
    return moment === undefined ? Date.now() : Date.now() - (this.now() - moment);
  }

  /**
   * After a pause of this process, Node runs timers before it reads what has arrived: a task that is late waits until that
   * was read. Otherwise answers that came in time would be taken for missing, all of them at once.
   */
  after(ms: number, task: () => void): () => void {
    let timer: NodeJS.Timeout;
    let afterReading: NodeJS.Immediate | undefined;
    const dueAt = performance.now() + ms;
    const run = (): void => {
      if (performance.now() - dueAt < LATE_MS) task();
      else afterReading = setImmediate(task);
    };
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(remainingMs, LONGEST_TIMER_MS);
      const next = remainingMs > stepMs ? () => arm(remainingMs - stepMs) : run;
      timer = setTimeout(next, stepMs);
      timer.unref();
    };
    arm(ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(afterReading);
    };
  }
}
