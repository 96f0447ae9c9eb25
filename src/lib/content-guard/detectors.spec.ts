// What each detector finds, and what only looks like it.
import { describe, expect, it } from 'vitest';
import { BUILT_IN, type BuiltInName } from './built-in.ts';
import { findingsIn } from './scan-text.ts';
import type { Detector } from './detector.ts';
import { patternDetector } from './pattern-detector.ts';
import { wordDetector } from './word-detector.ts';
import { atOnce } from '../concurrency/in-slices.ts';

const found = (text: string, detector: Detector) =>
  atOnce(findingsIn(text, detector)).map(({ start, end }) => text.slice(start, end));

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
    ['iban', 'DE89370400440532013000'],
    ['iban', 'GB29 NWBK 6016 1331 9268 19'],
    ['ipv4', '192.168.0.255'],
  ])('%s: %s', (name, text) => {
    expect(found(text, BUILT_IN[name])).toEqual([text]);
    expect(found(`(${text}), ${text}`, BUILT_IN[name])).toEqual([text, text]);
  });
});

describe('a built-in detector leaves alone', () => {
  it.each<[BuiltInName, string]>([
    ['api_key', 'AKIA and ghp_ and sk_live_ are prefixes'],
    ['private_key', '-----BEGIN PUBLIC KEY-----'],
    ['jwt', 'eyJhbGciOiJIUzI1NiJ9'],
    ['email', 'user@localhost, @handle, a@'],
    ['phone', '0151 2345678, 1+1, +12'],
    ['payment_card', '4111111111111112'],
    ['payment_card', '2024-01-02 10:20:30'],
    ['payment_card', '004111111111111111100'],
    ['payment_card', '４１１１１１１１１１１１１１１１'],
    ['iban', 'DE89370400440532013001'],
    ['iban', 'XDE89370400440532013000'],
    ['ipv4', '256.1.1.1000'],
  ])('%s: %s', (name, text) => {
    expect(found(text, BUILT_IN[name])).toEqual([]);
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
