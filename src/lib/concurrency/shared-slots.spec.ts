import { describe, expect, it } from 'vitest';
import { SharedSlots } from './shared-slots.ts';

function takeAll(slots: SharedSlots, tenant: string): (() => void)[] {
  const taken: (() => void)[] = [];
  for (let slot = slots.take(tenant); slot !== undefined; slot = slots.take(tenant)) taken.push(slot);
  return taken;
}

describe('SharedSlots', () => {
  it('keeps the last tenth for tenants that hold few', () => {
    const slots = new SharedSlots(1_000);
    expect(takeAll(slots, 'greedy')).toHaveLength(900);
    expect(takeAll(slots, 'modest')).toHaveLength(10);
    expect(takeAll(slots, 'another')).toHaveLength(10);
    expect(takeAll(slots, 'greedy')).toHaveLength(0);
  });

  it('never gives more than there are', () => {
    const slots = new SharedSlots(1_000);
    let taken = 0;
    for (let tenant = 0; tenant < 200; tenant += 1) taken += takeAll(slots, `tenant-${tenant}`).length;
    expect(taken).toBe(1_000);
  });

  it('takes a slot back once, however often it is given back', () => {
    const slots = new SharedSlots(10);
    const taken = takeAll(slots, 'one');
    expect(taken).toHaveLength(9);
    taken[0]?.();
    taken[0]?.();
    expect(takeAll(slots, 'one')).toHaveLength(1);
  });
});
