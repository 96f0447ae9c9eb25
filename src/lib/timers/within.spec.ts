import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { LateError, within } from './within.ts';

/** Heeds its signal, and ends when it is told to. */
function work() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = (signal: AbortSignal) =>
    Promise.race([
      promise,
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    ]);
  return { run, end: resolve };
}

describe('within', () => {
  it('gives what the work gave, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const { run, end } = work();
    const limited = within(clock, { ms: 50 }, run);
    end('done');
    expect(await limited).toBe('done');
    expect(clock.pendingTimers).toBe(0);
  });

  it('says that the time was over, whatever the work made of its signal', async () => {
    const clock = new FakeClock();
    const late = new Error('it took too long');
    const plain = within(clock, { ms: 50 }, work().run);
    const named = within(clock, { ms: 50, late }, work().run);
    const both = Promise.allSettled([plain, named]);
    await clock.advance(50);
    const [first, second] = await both;
    expect(first).toMatchObject({ status: 'rejected', reason: new LateError(50) });
    expect(second).toEqual({ status: 'rejected', reason: late });
  });

  it('ends with the outer signal and its reason', async () => {
    const clock = new FakeClock();
    const outer = new AbortController();
    const limited = within(clock, { ms: 50, signal: outer.signal }, work().run);
    const reason = new Error('nobody waits any more');
    outer.abort(reason);
    await expect(limited).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails as the work does', async () => {
    const fault = new Error('no');
    await expect(within(new FakeClock(), { ms: 50 }, () => Promise.reject(fault))).rejects.toBe(fault);
  });
});
