// PassingMap: whatever is done to it, it holds what a Map would. What it leaves in the heap: test/integration/passing-memory.test.ts.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
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
