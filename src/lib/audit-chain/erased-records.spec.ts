// What is known of erased records: each is named by a record behind it, or found.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ErasedRecords, MOST_ERASED, numbersOf, rangesOf } from './erased-records.ts';
import type { ReadLine } from './export-line.ts';

const erasure = (erased: string): ReadLine => ({
  record: '',
  place: { previous: '', recordedAt: '', seq: 1, tenant: '' },
  hash: '',
  personalHash: '',
  personal: { salt: '', data: JSON.stringify({ notes: { erased } }) },
  said: { kind: 'erasure' },
});

const numbers = fc
  .uniqueArray(fc.integer({ min: 1, max: 100_000 }), { maxLength: MOST_ERASED })
  .map((list) => list.toSorted((one, other) => one - other));

it('numbers are read as they were written', () => {
  fc.assert(
    fc.property(numbers, (list) => {
      expect(numbersOf(rangesOf(list))).toEqual(list);
    }),
  );
  expect(rangesOf([3, 4, 5, 9])).toBe('3-5,9');
});

it('what names no numbers, or far too many, names none', () => {
  for (const text of ['', 'x', '0', '-1', '3-1', '1-9007199254740991', '1-1001', '1-1000,2000', '1,,2', ' 1'])
    expect(numbersOf(text)).toEqual([]);
});

it('the first record without a name is found, and none where all are named', () => {
  fc.assert(
    fc.property(numbers, numbers, (gone, named) => {
      const erased = new ErasedRecords();
      for (const seq of gone) erased.add(seq);
      erased.read(erasure(rangesOf(named)));
      const left = gone.filter((seq) => !named.includes(seq));
      expect(erased.finding()?.seq).toBe(left[0]);
      expect(erased.count).toBe(gone.length - left.length);
    }),
  );
});
