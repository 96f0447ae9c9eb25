// A secret that an upstream gives back is found, wherever it has put characters that nobody sees.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { secretScrubber } from '../secrets/scrub-secrets.ts';
import { oneLine } from './one-line.ts';

const SECRET = 'token-0123456789abcdef';
const SPACED = 'pass  word\twith spaces';
const { text: scrub } = secretScrubber([SECRET, SPACED]);
const unseen = fc.constantFrom('', '\u200b', '\u2060', '\u00ad', '\u202e', '\ufeff', '\u{e0061}', '\u0007');

it('wherever it stands, and however long the text is', () => {
  const split = fc.array(unseen, { minLength: SECRET.length, maxLength: SECRET.length }).map((between) =>
    SECRET.split('')
      .map((unit, index) => unit + (between[index] ?? ''))
      .join(''),
  );
  fc.assert(
    fc.property(fc.nat(400), split, fc.nat(600), (before, secret, most) => {
      const shown = oneLine(`${'x '.repeat(before)}${secret} end`, scrub, most);
      expect(shown).not.toContain('token');
      expect(shown.length).toBeLessThanOrEqual(most);
    }),
  );
});

it('also one with spaces, and behind many that nobody sees', () => {
  expect(oneLine(`no:\n${SPACED}`, scrub, 100)).toBe('no: [secret]');
  expect(oneLine(`${'\u200b'.repeat(100_000)}${SECRET}`, scrub, 100)).toBe('[secret]');
});
