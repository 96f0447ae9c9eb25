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

  it.each([
    ['\\'.repeat(12) + '"'.repeat(8) + '/'.repeat(8) + 'x', '\\'.repeat(20_000) + '/'.repeat(20_000)],
    ['\\"'.repeat(12) + 'x', '\\"'.repeat(20_000)],
    ['\\"'.repeat(12) + 'x', '\\\\\\\\"'.repeat(10_000)],
    ['%25'.repeat(12) + 'x', '%25'.repeat(20_000)],
    ['&amp;'.repeat(12) + 'x', '&amp;'.repeat(20_000)],
    ['\\u0022'.repeat(12) + 'x', '\\u0022'.repeat(20_000)],
    [`${'a'.repeat(60)}b`, 'a'.repeat(100_000)],
  ])('is quick about %j in a text made to be slow', (value, hostile) => {
    const { text } = secretScrubber([value]);
    const startedAt = performance.now();
    text(hostile);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
