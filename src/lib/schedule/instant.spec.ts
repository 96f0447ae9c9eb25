// parseInstant: every moment that there is, and no other.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseInstant } from './instant.ts';

const two = (value: number) => String(value).padStart(2, '0');

it.each([
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+01:60',
  '2026-01-01T00:00:00',
  '2026-01-01',
  '2026-02-30',
  'Feb 30 2026 Z',
  '',
])('%s is none', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});

it.each([
  ['2028-02-29T12:00Z', '2028-02-29T12:00:00.000Z'],
  ['2000-02-29T00:00:00+02:00', '2000-02-28T22:00:00.000Z'],
  ['2026-12-31T23:59:59.999999-05:30', '2027-01-01T05:29:59.999Z'],
])('%s is %s', (text, same) => {
  expect(parseInstant(text)?.toISOString()).toBe(same);
});

it('takes a date exactly where the calendar has it', () =>
  fc.assert(
    fc.property(
      fc.record({
        year: fc.integer({ min: 1000, max: 9999 }),
        month: fc.integer({ min: 0, max: 14 }),
        day: fc.integer({ min: 0, max: 33 }),
      }),
      ({ year, month, day }) => {
        const text = `${year}-${two(month)}-${two(day)}T10:20:30Z`;
        const calendar = new Date(Date.UTC(year, month - 1, day));
        const isThere = calendar.getUTCMonth() === month - 1 && calendar.getUTCDate() === day;
        expect(parseInstant(text)?.toISOString()).toBe(isThere ? text.replace('Z', '.000Z') : undefined);
      },
    ),
  ));
