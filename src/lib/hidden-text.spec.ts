// Hidden characters: taken out or written out, and what is left has none.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/helpers/any-character.ts';
import { cutToBytes, hasHidden, showingHidden, withoutHidden } from './hidden-text.ts';

describe('hidden characters', () => {
  it('leave what a reader sees, line feeds and tabs', () => {
    expect(withoutHidden('a\u200bb\n\tc\u{e0041}é 漢')).toEqual({ text: 'ab\n\tcé 漢', removed: 2 });
  });

  it('are written out for someone who has to see them', () => {
    expect(showingHidden('read\u202efile')).toBe('read\\u{202e}file');
  });

  it('are none in what was cleaned or written out, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(hasHidden(withoutHidden(text).text)).toBe(false);
        expect(hasHidden(showingHidden(text))).toBe(false);
      }),
    );
  });
});

describe('cutToBytes', () => {
  it('keeps a beginning that is no longer, and whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, most) => {
        const cut = cutToBytes(text, most);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(Math.max(most, 0));
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text).toBe(Buffer.byteLength(text) <= most);
      }),
    );
  });
});
