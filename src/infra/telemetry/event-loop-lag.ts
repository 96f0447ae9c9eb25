// EventLoopLag: reads Node's own monitors of the event loop, as long as somebody asks.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../ports/clock.ts';
import type { LoopLag } from '../../ports/telemetry/loop-lag.ts';

/** The part of Node's IntervalHistogram that is used. Values are nanoseconds between two turns of its own timer. */
export interface DelayMonitor {
  enable(): boolean;
  disable(): boolean;
  reset(): void;
  percentile(percentile: number): number;
}

const RESOLUTION_MS = 20;
const STEP_MS = 500;

/**
 * Two monitors, each over a second, half a second apart: a monitor that was reset drops its next measurement, and the
 * other one has it. A lag counts when the second before shows it as well, so that one long pause refuses nobody.
 */
export class EventLoopLag implements LoopLag {
  readonly #clock: Clock;
  readonly #monitors: readonly [DelayMonitor, DelayMonitor];
  /** The last two, the older one first. */
  #readings: readonly [number, number] = [0, 0];
  #turn: 0 | 1 = 0;
  #lagMs = 0;
  #asked = false;
  #dueAt = 0;
  #disarm: (() => void) | undefined;

  constructor(clock: Clock, newMonitor: () => DelayMonitor = nodeMonitor) {
    this.#clock = clock;
    this.#monitors = [newMonitor(), newMonitor()];
  }

  p99Ms(): number {
    this.#asked = true;
    if (this.#disarm === undefined) this.#start();
    return this.#lagMs;
  }

  /** Also by itself, when a whole step passes without a question: an idle gateway measures nothing. */
  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    for (const monitor of this.#monitors) monitor.disable();
    this.#lagMs = 0;
  }

  #start(): void {
    this.#readings = [0, 0];
    for (const monitor of this.#monitors) {
      monitor.reset();
      monitor.enable();
    }
    this.#arm();
  }

  #arm(): void {
    this.#dueAt = this.#clock.now() + STEP_MS;
    this.#disarm = this.#clock.after(STEP_MS, () => this.#step());
  }

  #step(): void {
    if (!this.#asked) return this.stop();
    this.#asked = false;
    const monitor = this.#monitors[this.#turn];
    this.#turn = this.#turn === 0 ? 1 : 0;
    const measured = monitor.percentile(99) / 1e6 - RESOLUTION_MS;
    // While due timers follow each other without a pause, the monitors get no turn at all; this one does, and comes late.
    const reading = Math.max(0, measured, this.#clock.now() - this.#dueAt);
    monitor.reset();
    const [secondBefore, latest] = this.#readings;
    this.#lagMs = Math.min(reading, secondBefore);
    this.#readings = [latest, reading];
    this.#arm();
  }
}

function nodeMonitor(): DelayMonitor {
  return monitorEventLoopDelay({ resolution: RESOLUTION_MS });
}
