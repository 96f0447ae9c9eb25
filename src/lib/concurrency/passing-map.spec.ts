// PassingMap: whatever is done to it, it holds what a Map would.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { leftInOldGeneration, THING_BYTES } from '../../../test/helpers/old-generation.ts';
import { PassingMap } from './passing-map.ts';

const keys = fc.integer({ min: 0, max: 4 });
const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('set' as const), key: keys, value: fc.record({ n: fc.integer() }) }),
    fc.record({ act: fc.constant('delete' as const), key: keys }),
  ),
  { maxLength: 40 },
);

it('holds what a Map would, in the same order', () => {
  fc.assert(
    fc.property(acts, (list) => {
      const [passing, plain] = [new PassingMap<number, object>(), new Map<number, object>()];
      for (const each of list) {
        if (each.act === 'set') passing.set(each.key, each.value);
        const isGone = each.act === 'delete' && passing.delete(each.key);
        if (each.act === 'set') plain.set(each.key, each.value);
        expect(isGone).toBe(each.act === 'delete' && plain.delete(each.key));
        expect([...passing.values()]).toEqual([...plain.values()]);
        expect(passing.size).toBe(plain.size);
        for (let key = 0; key <= 4; key += 1)
          expect([passing.has(key), passing.get(key)]).toEqual([plain.has(key), plain.get(key)]);
      }
    }),
  );
});

it('keeps little of what was in it, without a full collection, where a Map keeps all', async () => {
  const leftBy = (map: Pick<Map<string, object>, 'set' | 'delete'> | PassingMap<string, object>) => {
    let entered = 0;
    const enter = (thing: object) => {
      entered += 1;
      map.set(`${entered}`, thing);
      return `${entered}`;
    };
    return leftInOldGeneration(enter, (key) => void map.delete(key));
  };
  expect(await leftBy(new PassingMap())).toBeLessThan(THING_BYTES / 4);
  // What it is there for: once this fails, V8 has found a better way, and a Map will do.
  expect(await leftBy(new Map())).toBeGreaterThan(THING_BYTES / 2);
});
