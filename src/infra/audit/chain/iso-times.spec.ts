// Times of records: what Date writes is read as Date reads it, whatever came before, and nothing else is a time.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { IsoTimes } from './iso-times.ts';

const near = fc
  .tuple(fc.constantFrom(0, 59_999, 86_400_000), fc.integer({ min: -120_000, max: 120_000 }))
  .map(([base, more]) => new Date(Date.UTC(2026, 11, 31, 23, 59) + base + more));

/** Of texts that stand between others. */
function reader() {
  const times = new IsoTimes();
  return (text: string) => {
    const bytes = Buffer.from(`"${text}"0`);
    return times.ms(bytes, 1, bytes.length - 2);
  };
}

it('every time is read as Date reads it, one after another', () => {
  const any = fc.date({ noInvalidDate: true });
  fc.assert(
    fc.property(fc.array(fc.oneof(near, any), { minLength: 1 }), (dates) => {
      const msOf = reader();
      expect(dates.map((date) => msOf(date.toISOString()))).toEqual(dates.map((date) => date.getTime()));
    }),
  );
});

it.each([
  'never',
  '',
  '2026-11-28',
  '2026-11-28T10:00:00Z',
  '2026-11-28T10:00:60.000Z',
  '2026-11-28T10:00:1.0000Z',
  '2026-11-28T10:00:00.000Z ',
  '2026-11-28T10:00:00.000+00:00',
  '2026-11-28T10:00:0x.000Z',
])('%j is no time, also behind one of the same minute', (text) => {
  const msOf = reader();
  expect(msOf(text)).toBeNaN();
  expect(msOf('2026-11-28T10:00:00.000Z')).toBe(Date.UTC(2026, 10, 28, 10));
  expect(msOf(text)).toBeNaN();
});
