import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyBytes } from './body-bytes.ts';

const MIB = 1 << 20;

describe('BodyBytes', () => {
  it('gives back what arrived, whatever length was announced, and takes no more than it may', () => {
    const chunk = fc.tuple(fc.oneof(fc.nat(9), fc.nat(MIB)), fc.nat(255));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), fc.nat(8 * MIB), (said, announced) => {
        const bytes = new BodyBytes(3 * MIB);
        bytes.announced = announced;
        const taken: Buffer[] = [];
        for (const [length, fill] of said) {
          const next = Buffer.alloc(length, fill);
          const fits = taken.reduce((sum, each) => sum + each.length, length) <= 3 * MIB;
          expect(bytes.push(next)).toBe(fits);
          if (fits) taken.push(next);
        }
        expect(bytes.whole().equals(Buffer.concat(taken))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});
