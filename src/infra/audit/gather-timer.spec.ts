// GatherTimer: one time at most, which may be brought forward.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { GatherTimer } from './gather-timer.ts';

function setUp() {
  const clock = new FakeClock();
  let fired = 0;
  const timer = new GatherTimer(clock, () => (fired += 1));
  return { clock, timer, fired: () => fired };
}

describe('GatherTimer', () => {
  it('fires once, at the time that was set last', async () => {
    const { clock, timer, fired } = setUp();
    timer.after(20, true);
    timer.after(2);
    await clock.advance(2);
    expect(fired()).toBe(1);
    await clock.advance(100);
    expect(fired()).toBe(1);
  });

  it('says whether anybody waits for what it is set for', () => {
    const { timer } = setUp();
    expect([timer.isSet, timer.isUnhurried]).toEqual([false, false]);
    timer.after(20, true);
    expect([timer.isSet, timer.isUnhurried]).toEqual([true, true]);
    timer.soon();
    expect([timer.isSet, timer.isUnhurried]).toEqual([true, false]);
    timer.clear();
    expect([timer.isSet, timer.isUnhurried]).toEqual([false, false]);
  });

  it('fires at the end of the turn without time passing, and not at all once it is cleared', async () => {
    const { timer, fired } = setUp();
    timer.soon();
    await settled();
    expect(fired()).toBe(1);
    timer.soon();
    timer.clear();
    await settled();
    expect(fired()).toBe(1);
  });
});
