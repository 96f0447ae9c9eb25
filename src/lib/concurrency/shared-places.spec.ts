import { describe, expect, it } from 'vitest';
import { SharedPlaces } from './shared-places.ts';

function takeAll(places: SharedPlaces, tenant: string): (() => void)[] {
  const taken: (() => void)[] = [];
  for (let place = places.take(tenant); place !== undefined; place = places.take(tenant)) taken.push(place);
  return taken;
}

describe('SharedPlaces', () => {
  it('keeps the last tenth for tenants that hold few', () => {
    const places = new SharedPlaces(1_000);
    expect(takeAll(places, 'greedy')).toHaveLength(900);
    expect(takeAll(places, 'modest')).toHaveLength(10);
    expect(takeAll(places, 'another')).toHaveLength(10);
    expect(takeAll(places, 'greedy')).toHaveLength(0);
  });

  it('never gives more than there are', () => {
    const places = new SharedPlaces(1_000);
    let taken = 0;
    for (let tenant = 0; tenant < 200; tenant += 1) taken += takeAll(places, `tenant-${tenant}`).length;
    expect(taken).toBe(1_000);
  });

  it('takes a place back once, however often it is given back', () => {
    const places = new SharedPlaces(10);
    const taken = takeAll(places, 'one');
    expect(taken).toHaveLength(9);
    taken[0]?.();
    taken[0]?.();
    expect(takeAll(places, 'one')).toHaveLength(1);
  });
});
