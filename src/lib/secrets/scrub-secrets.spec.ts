// Scrubbed secrets: gone in every form they may come back in, and nothing else is touched.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SECRET_MARK, secretScrubber } from './scrub-secrets.ts';

const secret = fc
  .string({
    unit: fc.oneof(
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
      fc.constantFrom('ü', '"', '\\', '/', '+', ' ', '😀'),
    ),
    minLength: 8,
    maxLength: 40,
  })
  .filter((text) => new Set(text).size > 4);
const around = fc.string({ unit: 'grapheme', maxLength: 20 });

const CODINGS: readonly (readonly [string, (text: string) => string, (text: string) => string])[] = [
  ['nothing', String, String],
  ['percent-encoding', encodeURIComponent, decodeURIComponent],
  [
    'lower-case percent-encoding',
    (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
    decodeURIComponent,
  ],
  ['JSON', (text) => JSON.stringify(text).slice(1, -1), (text) => String(JSON.parse(`"${text}"`))],
  ['hexadecimal', (text) => Buffer.from(text).toString('hex'), String],
];

const upper = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

const inUrl = (text: string, which: RegExp) =>
  text.replace(which, (part) => Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '%$&'));

/** As the gateway writes a secret itself. */
const SENT: readonly (readonly [string, (text: string) => string])[] = [
  ['a query', encodeURIComponent],
  ['a query, as URL has it', (text) => new URL(`http://x/?${encodeURIComponent(text)}`).search.slice(1)],
  ['the path of a URL', (text) => inUrl(text, /["<>^`{}]| |[^ -~]+/g)],
  ['the query of a URL', (text) => inUrl(text, /["'<>]| |[^ -~]+/g)],
  ['a form', (text) => new URLSearchParams({ '': text }).toString().slice(1)],
  [
    'the credentials of an OAuth client',
    (text) =>
      encodeURIComponent(text)
        .replace(/[-_.!~*'()]/g, upper)
        .replaceAll('%20', '+'),
  ],
  ['a body of JSON', (text) => JSON.stringify(text).slice(1, -1)],
];

describe('secretScrubber', () => {
  it.each(CODINGS)('finds a secret anywhere in a text in %s', (_, encode) => {
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const scrubbed = secretScrubber([value]).text(encode(before) + encode(value) + encode(after));
        expect(scrubbed).toContain(SECRET_MARK);
        expect(scrubbed.replaceAll(SECRET_MARK, '')).not.toContain(encode(value));
      }),
    );
  });

  it.each(['base64', 'base64url'] as const)('finds a secret anywhere inside something in %s', (coding) => {
    fc.assert(
      fc.property(
        secret,
        fc.uint8Array({ maxLength: 9 }),
        fc.uint8Array({ maxLength: 9 }),
        (value, before, after) => {
          const whole = Buffer.concat([before, Buffer.from(value), after]).toString(coding);
          const scrubbed = secretScrubber([value]).text(`<${whole}>`);
          expect(scrubbed).toContain(SECRET_MARK);
          // What is left on either side holds a part of one byte of the secret at most.
          const left = scrubbed.slice(1, -1).split(SECRET_MARK);
          const longest = Math.max(...left.map((text) => Buffer.from(text, 'base64').length));
          expect(longest).toBeLessThanOrEqual(Math.max(before.length, after.length) + 1);
        },
      ),
    );
  });

  it('leaves no part of a secret at the edge of a text that is cut, also where it was cut before', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...'0123456789'.split('')),
      minLength: 8,
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        digits,
        fc.nat(120),
        fc.integer({ min: 8, max: 100 }),
        fc.nat(100),
        (value, before, most, more) => {
          const { cut } = secretScrubber([value]);
          const whole = '-'.repeat(before) + value + '-'.repeat(400);
          for (const text of [whole, whole.slice(0, 2 * most + 1 + more)]) {
            const shown = cut(text, most);
            expect(shown.length).toBeLessThanOrEqual(most);
            expect(shown).not.toMatch(/[0-9]/);
          }
        },
      ),
    );
  });

  it('cuts only what is too long, and says so', () => {
    for (const { cut } of [secretScrubber(['hunter22']), secretScrubber([])]) {
      expect(cut('short', 5)).toBe('short');
      expect(cut('longer', 5)).toBe('long…');
    }
    expect(secretScrubber(['hunter22']).cut('hunter22', 8)).toBe(SECRET_MARK);
  });

  it('leaves alone what holds no secret, the very same value', () => {
    const value = { a: ['x', 1, null, { b: true }], c: 'y' };
    expect(secretScrubber(['not-in-there']).json(value)).toBe(value);
    fc.assert(
      fc.property(fc.json(), (text) => {
        const parsed: unknown = JSON.parse(text);
        expect(secretScrubber(['\u0001\u0002\u0003\u0004never']).json(parsed)).toBe(parsed);
      }),
    );
  });

  it('scrubs strings, keys and numbers of a JSON value', () => {
    const { json } = secretScrubber(['12345678', 'hunter22']);
    expect(json({ hunter22: [12_345_678, 'is hunter22', 1] })).toEqual({
      [SECRET_MARK]: [SECRET_MARK, `is ${SECRET_MARK}`, 1],
    });
  });

  it('takes all of the longer of two secrets that begin alike', () => {
    expect(secretScrubber(['abcd', 'abcdefgh']).text('abcdefgh abcd')).toBe(`${SECRET_MARK} ${SECRET_MARK}`);
  });

  it('reads no pattern into a secret', () => {
    expect(secretScrubber(['a.*+?(x)[y]{1}$']).text('a.*+?(x)[y]{1}$ aXX')).toBe(`${SECRET_MARK} aXX`);
  });

  it('does not look for what is too short to be a secret', () => {
    expect(secretScrubber(['', 'abc']).text('abc')).toBe('abc');
  });

  it.each(SENT)('finds the hexadecimal and the base64 of what is sent in %s', (_, encode) => {
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const sent = encode(value);
        const bytes = Buffer.from(encode(before) + sent + encode(after));
        const { text } = secretScrubber([value]);
        for (const told of [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]) {
          const left = text(`<${told}>`).slice(1, -1);
          expect(left.replaceAll(SECRET_MARK, '').toLowerCase()).not.toContain(
            Buffer.from(sent).toString('hex'),
          );
        }
        for (const coding of ['base64', 'base64url'] as const) {
          const left = text(`<${bytes.toString(coding)}>`)
            .slice(1, -1)
            .split(SECRET_MARK);
          expect(left.length).toBeGreaterThan(1);
          const decoded = left.map((part) => Buffer.from(part, 'base64').toString('latin1'));
          expect(decoded.filter((part) => part.includes(sent))).toEqual([]);
        }
      }),
    );
  });
});
