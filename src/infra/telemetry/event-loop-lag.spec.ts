// Specs of EventLoopLag, with monitors that say what the test wants.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { EventLoopLag, type DelayMonitor } from './event-loop-lag.ts';

class FakeMonitor implements DelayMonitor {
  enabled = false;
  ms = 0;

  enable(): boolean {
    return (this.enabled = true);
  }

  disable(): boolean {
    this.enabled = false;
    return true;
  }

  reset(): void {
    this.ms = 0;
  }

  percentile(): number {
    return (this.ms + 20) * 1e6;
  }
}

function lagWithMonitors() {
  const clock = new FakeClock();
  const monitors: FakeMonitor[] = [];
  const lag = new EventLoopLag(clock, () => {
    const monitor = new FakeMonitor();
    monitors.push(monitor);
    return monitor;
  });
  /** Half a second in which the loop was late by so much. */
  const half = async (ms: number): Promise<number> => {
    lag.p99Ms();
    for (const monitor of monitors) monitor.ms = Math.max(monitor.ms, ms);
    await clock.advance(500);
    return lag.p99Ms();
  };
  return { clock, lag, monitors, half };
}

describe('EventLoopLag', () => {
  it('tells a lag that goes on, and soon after its end none', async () => {
    const { half } = lagWithMonitors();
    const told: number[] = [];
    for (const ms of [0, 0, 300, 300, 300, 300, 0, 0, 0]) told.push(await half(ms));
    expect(told).toEqual([0, 0, 0, 0, 300, 300, 300, 0, 0]);
  });

  it('takes one long pause for none', async () => {
    const { half } = lagWithMonitors();
    const told: number[] = [];
    for (const ms of [0, 0, 5_000, 0, 0, 0]) told.push(await half(ms));
    expect(told).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('sees a loop in which the monitors get no turn, by its own being late', async () => {
    const { clock, lag } = lagWithMonitors();
    for (let step = 0; step < 4; step += 1) {
      lag.p99Ms();
      clock.jumpTo(clock.now() + 1_100);
      await clock.advance(0);
    }
    expect(lag.p99Ms()).toBe(600);
  });

  it('measures only while somebody asks', async () => {
    const { clock, lag, monitors, half } = lagWithMonitors();
    expect(clock.pendingTimers).toBe(0);
    await half(300);
    expect(monitors.every(({ enabled }) => enabled)).toBe(true);
    await clock.advance(1_000);
    expect(clock.pendingTimers).toBe(0);
    expect(monitors.some(({ enabled }) => enabled)).toBe(false);
    expect(lag.p99Ms()).toBe(0);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { clock, lag, half } = lagWithMonitors();
    await half(10);
    lag.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
