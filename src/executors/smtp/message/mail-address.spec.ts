// Addresses of mail: the one form that every server reads the same, and nothing else.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../../test/helpers/any-character.ts';
import { parseAddress, parseDomain } from './mail-address.ts';

const SEPARATORS = [
  '@',
  '@',
  '.',
  '.',
  '<',
  '>',
  ',',
  ';',
  ':',
  '"',
  '\\',
  '(',
  ')',
  '[',
  ']',
  ' ',
  '\r',
  '\n',
  'a',
  'é',
  '。',
];

describe('an address', () => {
  it.each([
    ['ann@example.com', 'ann@example.com'],
    ["o'neil+tag_x@Mail.Example.COM", "o'neil+tag_x@mail.example.com"],
    ['ann@größe.example', 'ann@xn--gre-6ka8i.example'],
    ['a@b.co', 'a@b.co'],
    ['relay@localhost', 'relay@localhost'],
  ])('%s is %s', (text, address) => {
    expect(parseAddress(text)?.address).toBe(address);
  });

  it.each([
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@@example.com',
    'ann@example.com@evil.com',
    'ann @example.com',
    ' ann@example.com',
    'ann@example.com ',
    'Ann <ann@example.com>',
    '<ann@example.com>',
    '"ann"@example.com',
    '"ann\\"@evil.com,x"@example.com',
    'ann(comment)@example.com',
    'ann@example.com(comment)',
    'ann@(comment)example.com',
    '@relay.com:ann@example.com',
    'eve%evil.com@example.com',
    'evil.com!eve@example.com',
    '|sh@example.com',
    '=?utf-8?q?eve=40evil.com?=@example.com',
    '@a,@b:ann@example.com',
    'ann%evil.com@example.com\n',
    'ann!evil@example.com\r\nRCPT TO:<eve@evil.com>',
    'ann@example.com\0',
    'ann@[127.0.0.1]',
    'ann@[IPv6:::1]',
    'ann@127.0.0.1',
    'ann@0x7f000001',
    'ann@example..com',
    'ann@-example.com',
    'ann@example.com.',
    'ann@exa_mple.com',
    'ann@exam\u2028ple.com',
    'ann@example.com\u2029',
    'ann@exam/ple.com',
    'ann@example.com:25',
    'ann@example%2ecom',
    '.ann@example.com',
    'ann.@example.com',
    'a..b@example.com',
    'größe@example.com',
    'ann\u00a0@example.com',
    'ann@example.com,bob@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'a'.repeat(64)}.com`,
    `a@${'abcdefgh.'.repeat(40)}com`,
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('is printable ASCII with one @, in which nothing can end, quote or separate, whatever it was made of', () => {
    const text = fc.string({
      unit: fc.oneof(anyCharacter, fc.constantFrom(...SEPARATORS)),
    });
    const near = fc.tuple(text, text).map(([local, domain]) => `${local}@${domain}`);
    fc.assert(
      fc.property(fc.oneof(text, near, fc.emailAddress()), (written) => {
        const read = parseAddress(written);
        if (read === undefined) return;
        expect(read.address).toMatch(/^[!#-'*+./0-9=?A-Z^-~-]+@[a-z0-9.-]+$/);
        expect(read.address).not.toMatch(/[<>()[\]\\,;:"\s]/);
        expect(read.address.length).toBeLessThanOrEqual(254);
        // What it was read as is read as the same again.
        expect(parseAddress(read.address)).toEqual(read);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('dots of other scripts are dots, so that no domain has two readings', () => {
  expect(parseDomain('mail。example。com')).toBeUndefined();
  expect(parseDomain('ｅxample.com')).toBe('example.com');
});
