// Specs of SystemClock.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from './system-clock.ts';

const DAY_MS = 86_400_000;

describe('SystemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('tells the date of the machine', () => {
    vi.setSystemTime(1_700_000_000_123);
    expect(new SystemClock().wall()).toBe(1_700_000_000_123);
  });

  it('measures on, whatever the machine is set to: durations and deadlines are neither longer nor shorter', () => {
    const clock = new SystemClock();
    const began = clock.now();
    for (const setTo of [-3_600_000, 7_200_000]) {
      vi.setSystemTime(Date.now() + setTo);
      expect(clock.now()).toBe(began);
    }
    vi.advanceTimersByTime(500);
    expect(clock.now()).toBe(began + 500);
  });

  it('tells the date of a moment that it measured, by what the machine is set to now', () => {
    const clock = new SystemClock();
    const began = clock.now();
    vi.advanceTimersByTime(500);
    vi.setSystemTime(1_700_000_000_500);
    expect(clock.wall(began)).toBe(1_700_000_000_000);
  });

  it('runs a task once, after its time', () => {
    const task = vi.fn<() => void>();
    new SystemClock().after(50, task);
    vi.advanceTimersByTime(49);
    expect(task).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(task).toHaveBeenCalledTimes(1);
  });

  it('waits out a delay longer than one timer of Node can hold', () => {
    const task = vi.fn<() => void>();
    new SystemClock().after(60 * DAY_MS, task);
    vi.advanceTimersByTime(60 * DAY_MS - 1);
    expect(task).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(task).toHaveBeenCalledTimes(1);
  });

  it('never runs a task that was called off, not even in a later leg of a long delay', () => {
    const task = vi.fn<() => void>();
    const cancelShort = new SystemClock().after(10, task);
    const cancelLong = new SystemClock().after(60 * DAY_MS, task);
    cancelShort();
    vi.advanceTimersByTime(40 * DAY_MS);
    cancelLong();
    vi.advanceTimersByTime(40 * DAY_MS);
    expect(task).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('after a pause of the process, reads what has arrived before a task that is late is run', async () => {
    vi.useRealTimers();
    const order: string[] = [];
    const { port1, port2 } = new MessageChannel();
    port2.once('message', () => order.push('message'));
    const late = new Promise<void>((done) => {
      new SystemClock().after(1, () => {
        order.push('task');
        done();
      });
    });
    port1.postMessage('');
    const until = performance.now() + 60;
    while (performance.now() < until);
    await late;
    port1.close();
    expect(order).toEqual(['message', 'task']);
  });

  it('does not run a late task that is called off while what has arrived is read', async () => {
    vi.useRealTimers();
    const task = vi.fn<() => void>();
    const cancel = new SystemClock().after(1, task);
    const { port1, port2 } = new MessageChannel();
    port2.once('message', cancel);
    port1.postMessage('');
    const until = performance.now() + 60;
    while (performance.now() < until);
    await new Promise((done) => setTimeout(done, 20));
    port1.close();
    expect(task).not.toHaveBeenCalled();
  });

  it('does not keep the process alive', () => {
    vi.useRealTimers();
    const unref = vi.spyOn(globalThis, 'setTimeout');
    const cancel = new SystemClock().after(60_000, () => undefined);
    expect(unref.mock.results[0]?.value.hasRef()).toBe(false);
    cancel();
    unref.mockRestore();
  });
});
