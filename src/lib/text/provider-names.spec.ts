// Provider names: accepted by every provider, told apart, and independent of the order of the tools.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignProviderNames, mayNameTheSame } from './provider-names.ts';

const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Few characters and short words, so that clashes are the rule and not luck. */
const clashingName = fc.string({
  unit: fc.constantFrom('a', '.', '_', '-', '1'),
  minLength: 1,
  maxLength: 5,
});
const anyName = fc.oneof(
  clashingName,
  fc.string({
    unit: fc.constantFrom('a', 'Z', '0', '_', '.', '-', 'ü', ' ', '/'),
    minLength: 1,
    maxLength: 140,
  }),
);
const nameSet = fc.uniqueArray(anyName, { maxLength: 30 });

describe('assignProviderNames', () => {
  it('leaves a name alone that every provider accepts', () => {
    expect(assignProviderNames(['calculate_sum']).get('calculate_sum')).toBe('calculate_sum');
  });

  it('writes the dot of an action as two underscores', () => {
    const names = assignProviderNames(['google_calendar.list_events']);
    expect(names.get('google_calendar.list_events')).toBe('google_calendar__list_events');
  });

  it('lets a tool keep its own name when the mapped name of another is the same', () => {
    const names = assignProviderNames(['mail.send', 'mail__send']);
    expect(names.get('mail__send')).toBe('mail__send');
    expect(names.get('mail.send')).toMatch(/^mail__send_[0-9a-f]{8}$/);
  });

  it('adds a hash to both of two names that would be written alike', () => {
    const names = assignProviderNames(['a._b', 'a_.b']);
    expect(names.get('a._b')).toMatch(/^a___b_[0-9a-f]{8}$/);
    expect(names.get('a_.b')).toMatch(/^a___b_[0-9a-f]{8}$/);
  });

  it('cuts a long name to 64 characters and tells it apart by its hash', () => {
    const long = `warehouse.${'x'.repeat(80)}`;
    const names = assignProviderNames([`${long}1`, `${long}2`]);
    expect(names.get(`${long}1`)).toMatch(/^warehouse__x{44}_[0-9a-f]{8}$/);
    expect(names.get(`${long}1`)).not.toBe(names.get(`${long}2`));
  });

  it('starts every name with a letter or an underscore', () => {
    expect(assignProviderNames(['2fa.check']).get('2fa.check')).toBe('_2fa__check');
  });

  it('adds a hash where a character was replaced, because the name could not be read back', () => {
    expect(assignProviderNames(['tool name']).get('tool name')).toMatch(/^tool_name_[0-9a-f]{8}$/);
  });

  it('gives way when a tool is named like the hashed name of another', () => {
    const hashed = assignProviderNames(['mail.send', 'mail__send']).get('mail.send') ?? '';
    const names = assignProviderNames(['mail.send', 'mail__send', hashed]);
    expect(names.get(hashed)).toBe(hashed);
    expect(names.get('mail.send')).toMatch(/^mail__send_[0-9a-f]{8}$/);
    expect(names.get('mail.send')).not.toBe(hashed);
  });

  it('gives every name of any set an accepted spelling of its own', () => {
    fc.assert(
      fc.property(nameSet, (names) => {
        const assigned = assignProviderNames(names);
        expect([...assigned.keys()]).toEqual(names);
        for (const spelling of assigned.values()) expect(spelling).toMatch(ACCEPTED);
        expect(new Set(assigned.values()).size).toBe(names.length);
      }),
    );
  });

  it('never gives a name the own name of another function', () => {
    fc.assert(
      fc.property(nameSet, (names) => {
        const borrowed = [...assignProviderNames(names)].filter(
          ([name, spelling]) => spelling !== name && names.includes(spelling),
        );
        expect(borrowed).toEqual([]);
      }),
    );
  });

  it('gives the same spellings in whatever order the names come', () => {
    const setAndShuffled = nameSet.chain((names) =>
      fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
    );
    fc.assert(
      fc.property(setAndShuffled, ([names, shuffled]) => {
        const assigned = assignProviderNames(shuffled);
        for (const [name, spelling] of assignProviderNames(names)) expect(assigned.get(name)).toBe(spelling);
      }),
    );
  });
});

describe('mayNameTheSame', () => {
  it('knows every spelling that a set may give a name, whichever of the two is said first', () => {
    const long = `warehouse.${'x'.repeat(80)}`;
    const names = ['a._b', 'a_.b', 'mail.send', 'mail__send', '2fa.check', long, 'plain'];
    for (const [name, spelling] of assignProviderNames(names)) {
      expect(mayNameTheSame(name, spelling)).toBe(true);
      expect(mayNameTheSame(spelling, name)).toBe(true);
    }
    expect(mayNameTheSame('mail.send', 'mail.sent')).toBe(false);
    expect(mayNameTheSame('mail_send', 'mail-send')).toBe(false);
  });
});
