// Text in pieces: nothing is lost, nothing is too long, and no character is cut in two.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { piecesOf } from './pieces.ts';

it('gives the whole text in pieces that fit and are whole', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '🙂', '\u{10FFFF}')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, longest) => {
      const pieces = [...piecesOf(whole, longest)];
      expect(pieces.join('')).toBe(whole);
      for (const piece of pieces) {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.length).toBeLessThanOrEqual(longest);
        expect(piece.isWellFormed()).toBe(true);
      }
    }),
  );
});
