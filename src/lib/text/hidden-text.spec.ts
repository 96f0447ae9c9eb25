// Hidden characters: taken out or written out, and what is left has none.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/helpers/any-character.ts';
import { cutToBytes, hasHidden, showingHidden, withoutHidden } from './hidden-text.ts';

describe('hidden characters', () => {
  it('leave what a reader sees, line feeds and tabs', () => {
    expect(withoutHidden('a\u200bb\n\tc\u{e0041}é 漢')).toEqual({ text: 'ab\n\tcé 漢', removed: 2 });
  });

  it('are written out for someone who has to see them', () => {
    expect(showingHidden('read\u202efile')).toBe('read\\u{202e}file');
  });

  it.each([
    ['a blank of braille', '\u2800'],
    ['a note without a head', '\u{1d159}'],
    ['an object that is elsewhere', '\ufffc'],
    ['private use', '\ue000'],
    ['private use far away', '\u{10fffd}'],
    ['no character yet', '\u0378'],
    ['no character ever', '\ufdd0'],
    ['a choice of glyph', '\ufe0f'],
    ['a later choice of glyph', '\u{e0100}'],
    ['a tag', '\u{e0041}'],
    ['fillers of Hangul', '\u115f\u1160\u3164\uffa0'],
    ['a joiner of graphemes', '\u034f'],
    ['half of a pair', '\ud800'],
  ])('are hidden: %s', (_what, text) => {
    expect(withoutHidden(`a${text}b`).text).toBe('ab');
    expect(showingHidden(text)).toMatch(/^(?:\\u\{[0-9a-f]+\})+$/);
  });

  it('spaces of another kind are written out, and left where texts are cleaned', () => {
    const spaces =
      '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000';
    expect(showingHidden(spaces)).toMatch(/^(?:\\u\{[0-9a-f]+\}){16}$/);
    expect(withoutHidden(spaces)).toEqual({ text: spaces, removed: 0 });
  });

  it('whatever is shown is ASCII, or a letter, mark, number, sign or symbol that is there to be seen', () => {
    fc.assert(
      fc.property(anyCharacter, (character) => {
        const mayBeSeen =
          /^[\n\t -~\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character) &&
          !/\p{Default_Ignorable_Code_Point}/u.test(character);
        expect(mayBeSeen || showingHidden(character) !== character).toBe(true);
      }),
      { numRuns: 20_000 },
    );
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
