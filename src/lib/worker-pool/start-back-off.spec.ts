import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { StartBackOff } from './start-back-off.ts';

function deaths(backOff: StartBackOff, count: number): void {
  for (let i = 0; i < count; i++) backOff.died();
}

describe('the start back-off', () => {
  it('pauses for five seconds after three deaths, and after each further one', async () => {
    const clock = new FakeClock();
    const backOff = new StartBackOff(clock);
    deaths(backOff, 2);
    expect(backOff.pauseMs()).toBe(0);
    backOff.died();
    expect(backOff.pauseMs()).toBe(5000);
    await clock.advance(5000);
    expect(backOff.pauseMs()).toBe(0);
    backOff.died();
    expect(backOff.pauseMs()).toBe(5000);
  });

  it('forgets deaths after thirty seconds', async () => {
    const clock = new FakeClock();
    const backOff = new StartBackOff(clock);
    deaths(backOff, 2);
    await clock.advance(30_000);
    deaths(backOff, 2);
    expect(backOff.pauseMs()).toBe(0);
  });

  it('forgets deaths when a worker becomes ready', () => {
    const backOff = new StartBackOff(new FakeClock());
    deaths(backOff, 3);
    backOff.becameReady();
    expect(backOff.pauseMs()).toBe(0);
    deaths(backOff, 2);
    expect(backOff.pauseMs()).toBe(0);
  });
});
