// Names of people: what nobody sees makes nobody else.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/helpers/any-character.ts';
import { showingHidden } from '../text/hidden-text.ts';
import { isSamePerson } from './same-person.ts';

const NAME = fc.string({
  unit: fc.constantFrom(...Array.from('abcxyzABCXYZ0189.@-éÉßψΣ漢')),
  minLength: 1,
  maxLength: 12,
});
/** Whatever is written out for an approver, and the spaces and line ends that need not be. */
const UNSEEN = fc.oneof(
  anyCharacter.filter((character) => showingHidden(character) !== character),
  fc.constantFrom(
    ' ',
    '\n',
    '\t',
    '\u2800',
    '\u3164',
    '\u115f',
    '\ufe0f',
    '\u034f',
    '\u{e0041}',
    '\ue000',
    '\u0378',
    '\ufdd0',
  ),
);

describe('one person', () => {
  it.each([
    ['alice', 'ALICE'],
    ['alice', 'AL\u0130CE'],
    ['alice', 'ali\u0307ce'],
    ['ALICE', 'al\u0131ce'],
    ['j.doe', 'j\u0307.doe'],
    ['alice', 'ａｌｉｃｅ'],
    ['josé', 'jose\u0301'],
    ['josé', 'jose\u034f\u0301'],
    ['straße', 'STRASSE'],
    ['alice', ' a\u2800l\u1d159'.replace('\u1d159', '\u{1d159}') + '\ufffcice\u3000'],
  ])('is %j and %j', (one, other) => {
    expect(isSamePerson(one, other)).toBe(true);
  });

  it('stays one with anything in the name that nobody sees, and in any case', () => {
    fc.assert(
      fc.property(
        NAME,
        fc.array(fc.tuple(fc.nat(), UNSEEN), { maxLength: 5 }),
        fc.boolean(),
        (name, inserted, upper) => {
          let written = upper ? name.toUpperCase() : name.toLowerCase();
          for (const [where, character] of inserted) {
            const at = where % (written.length + 1);
            // Between the halves of a pair there is no place for a character.
            if (/[\ud800-\udbff]$/.test(written.slice(0, at))) continue;
            written = written.slice(0, at) + character + written.slice(at);
          }
          expect(isSamePerson(name, written)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['alice', 'alicia'],
    ['jose', 'josé'],
    ['\u200b', '\u2800'],
    ['', ''],
    [undefined, 'alice'],
  ])('is not %j and %j', (one, other) => {
    expect(isSamePerson(one, other)).toBe(false);
  });
});
