// What each detector finds, and what only looks like it.
import { describe, expect, it, vi } from 'vitest';
import { builtIn, type BuiltInName } from './built-in.ts';
import { findingsIn, LONGEST_FINDING } from './scan-text.ts';
import type { Detector } from './detector.ts';
import { patternDetector } from './pattern-detector.ts';
import { wordDetector } from './word-detector.ts';
import { atOnce } from '../concurrency/in-slices.ts';

const found = (text: string, detector: Detector) =>
  atOnce(findingsIn(text, detector)).map(({ start, end }) => text.slice(start, end));

const CARD = '4111 1111 1111 1111';
const KEY = ['-----BEGIN RSA PRIVATE', 'KEY-----\nMIIE/+==\n-----END RSA PRIVATE', 'KEY-----'].join(' ');
const JWT = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.');
const letters = (count: number) => 'aB3d'.repeat(count).slice(0, count);

describe('a built-in detector finds', () => {
  it.each<[BuiltInName, string]>([
    ['api_key', `AKIA${'ABCDEFGH'.repeat(2)}`],
    ['api_key', `ghp_${letters(36)}`],
    ['api_key', `github_pat_${letters(40)}`],
    ['api_key', `xoxb-${letters(24)}`],
    ['api_key', `AIza${letters(35)}`],
    ['api_key', `sk_live_${letters(24)}`],
    ['private_key', KEY],
    ['jwt', JWT],
    ['email', 'bob.smith+x@mail.example.com'],
    ['phone', '+49 151 2345678'],
    ['phone', '+1 (415) 555-2671'],
    ['payment_card', '4111111111111111'],
    ['payment_card', '4111 1111 1111 1111'],
    ['payment_card', '3782-822463-10005'],
    ['payment_card', '４１１１１１１１１１１１１１１１'],
    ['payment_card', '4111\u00a01111\u00a01111\u00a01111'],
    ['payment_card', '4111  1111  1111  1111'],
    ['phone', '＋４９　１５１　２３４５６７８'],
    ['phone', '+49\u00a0151  2345678'],
    ['iban', 'DE89370400440532013000'],
    ['iban', 'DE89  3704\u00a00044 0532 0130 00'],
    ['iban', 'ＤＥ８９３７０４００４４０５３２０１３０００'],
    ['iban', 'GB29 NWBK 6016 1331 9268 19'],
    ['ipv4', '192.168.0.255'],
  ])('%s: %s', (name, text) => {
    expect(found(text, builtIn(name))).toEqual([text]);
    expect(found(`(${text}), ${text}`, builtIn(name))).toEqual([text, text]);
  });
});

describe('a built-in detector leaves alone', () => {
  it.each<[BuiltInName, string]>([
    ['api_key', 'AKIA and ghp_ and sk_live_ are prefixes'],
    ['private_key', '-----BEGIN PUBLIC KEY-----'],
    ['jwt', 'eyJhbGciOiJIUzI1NiJ9'],
    ['email', 'user@localhost, @handle, a@'],
    ['phone', '0151 2345678, 1+1, +12'],
    ['phone', '+4111111111111111, 1+4915123456789'],
    ['payment_card', '4111111111111112'],
    ['payment_card', '2024-01-02 10:20:30'],
    ['payment_card', '004111111111111111100'],
    ['payment_card', '4111   1111   1111   1111'],
    ['payment_card', '41111111 11111111'],
    ['payment_card', '4111 1111-1111 1111'],
    ['iban', 'DE89370400440532013001'],
    ['iban', 'DE89-3704-0044-0532-0130-00'],
    ['iban', 'XDE89370400440532013000'],
    ['ipv4', '256.1.1.1000'],
  ])('%s: %s', (name, text) => {
    expect(found(text, builtIn(name))).toEqual([]);
  });
});

describe('numbers in groups', () => {
  it('a phone ends where a group ends: none is cut out of more digits than a phone has', () => {
    expect(found('tel +49 30 123456 4111111111111111', builtIn('phone'))).toEqual(['+49 30 123456']);
    expect(found('+4930123456 20240102', builtIn('phone'))).toEqual(['+4930123456']);
  });

  it('a card is found whole where digits before it look like one together with its first groups', () => {
    const text = '2002 4111 1111 1111 1111';
    expect(found(text, builtIn('payment_card'))).toEqual(['2002 4111 1111 1111', CARD]);
  });
});

describe('a private key', () => {
  const lines = KEY.split('\n');
  it.each([
    ['quoted', lines.join('\n> ')],
    ['commented out', lines.join('\n# ')],
    ['in a table', lines.join(' |\n| ')],
    ['joined by tags', lines.join('<br>')],
    ['joined from strings', lines.join('\\n" +\n  "')],
    ['with a stray character', KEY.replace('MIIE', 'MI*IE')],
    ['with what another key begins with in it', KEY.replace('MIIE', `*${lines[0]}*`)],
  ])('%s is found as far as its last line', (_how, text) => {
    expect(found(`"${text}", and more`, builtIn('private_key'))).toEqual([text]);
  });

  it('without a last line of a private key within bounds ends where it cannot go on', () => {
    const [first = ''] = lines;
    for (const rest of ['', '-----END CERTIFICATE-----', `${'y '.repeat(LONGEST_FINDING / 2)}${lines[2]}`])
      expect(found(`${first}\nMIIE!${rest}`, builtIn('private_key'))).toEqual([`${first}\nMIIE`]);
  });

  it('many that begin and never end are looked through once, not once for each', () => {
    const text = `${lines[0]}! -----END A----- `.repeat(20_000);
    const spy = vi.spyOn(String.prototype, 'indexOf');
    let looked = 0;
    try {
      expect(found(text, builtIn('private_key'))).toHaveLength(20_000);
      for (const [call, [what, from = 0]] of spy.mock.calls.entries()) {
        const at = spy.mock.results[call]?.value as number;
        if (what === '-----END ') looked += (at < 0 ? String(spy.mock.contexts[call]).length : at) - from;
      }
    } finally {
      spy.mockRestore();
    }
    expect(looked).toBeGreaterThan(text.length / 2);
    expect(looked).toBeLessThan(2.1 * text.length);
  });
});

describe('words', () => {
  const detector = wordDetector(['project falcon', 'falcon', 'Straße']);

  it('are found whole, in any case, and as the longest phrase', () => {
    const text = 'The PROJECT\n Falcon, a falcon; ＦＡＬＣＯＮ; straße';
    expect(found(text, detector)).toEqual(['PROJECT\n Falcon', 'falcon', 'ＦＡＬＣＯＮ', 'straße']);
  });

  it('are not found in a part of a word', () => {
    expect(found('falcons project falconry éfalcon', detector)).toEqual([]);
  });

  it('letters of another script that look alike are other letters', () => {
    expect(found('f\u0430lcon', detector)).toEqual([]);
  });

  it('need a word', () => {
    expect(() => wordDetector(['!!'])).toThrow('no word');
  });
});

describe('patterns', () => {
  it('are those of RE2, of a bounded cost, and never of the empty text', () => {
    expect(found('ID-12 ID-345', patternDetector('ID-[0-9]+'))).toEqual(['ID-12', 'ID-345']);
    expect(() => patternDetector('(a)\\1')).toThrow('invalid escape');
    expect(() => patternDetector('a*')).toThrow('empty text');
    expect(() => patternDetector('(?:[a-z]{1,30}x){30}')).toThrow('too many steps');
  });
});
