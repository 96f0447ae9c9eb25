// Specs of OutcomeWindow.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutcomeWindow } from './outcome-window.ts';

describe('OutcomeWindow', () => {
  it('counts the calls of its time, to the slice, for any history', () => {
    const event = fc.record({ waitMs: fc.nat(5_000), failed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), fc.nat(40_000), (events, later) => {
        const window = new OutcomeWindow(30_000);
        let now = 1_000_000_007;
        const kept = events.map(({ waitMs, failed }) => {
          now += waitMs;
          window.add(now, failed);
          return { slice: Math.floor(now / 3_000), failed };
        });
        const last = Math.floor((now + later) / 3_000);
        const inside = kept.filter(({ slice }) => slice > last - 10);
        expect(window.totals(now + later)).toEqual({
          calls: inside.length,
          failures: inside.filter(({ failed }) => failed).length,
        });
      }),
    );
  });

  it('counts nothing of a time that has not come yet: the clock was set back', () => {
    const window = new OutcomeWindow(30_000);
    window.add(2_000_000, true);
    expect(window.totals(1_000_000)).toEqual({ calls: 0, failures: 0 });
  });

  it('is empty once cleared', () => {
    const window = new OutcomeWindow(30_000);
    window.add(2_000_000, true);
    window.clear();
    expect(window.totals(2_000_000)).toEqual({ calls: 0, failures: 0 });
  });
});
