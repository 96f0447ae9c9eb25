// Specs of GroupBytes: whatever is in the lines, and however large a group is.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { GroupBytes } from './group-bytes.ts';

it('gives the lines as UTF-8, one behind the other, and nothing of the group before', () => {
  const line = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('ü'.repeat(40_000)));
  const bytes = new GroupBytes();
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      expect(Buffer.from(bytes.of(lines)).equals(Buffer.from(lines.join('')))).toBe(true);
    }),
  );
});
