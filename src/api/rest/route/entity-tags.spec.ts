// Which revision a change of a definition is meant for, by its headers.
import { expect, it } from 'vitest';
import { etagOf, revisionWanted } from './entity-tags.ts';

it('an entity tag that was given names its revision', () => {
  expect(revisionWanted({ 'if-match': etagOf(7) })).toBe(7);
});

it('* for If-None-Match is the first revision, and no header is whichever is there', () => {
  expect(revisionWanted({ 'if-none-match': ' * ' })).toBe(0);
  expect(revisionWanted({})).toBeUndefined();
});

it.each(['', '7', '"0"', '"07"', '"-1"', '"1e3"', 'W/"7"', '"1234567890"'])(
  'If-Match %j is of no revision',
  (match) => {
    expect(() => revisionWanted({ 'if-match': match })).toThrow(
      expect.objectContaining({ reason: 'VERSION_CONFLICT' }),
    );
  },
);

it.each([{ 'if-none-match': '"7"' }, { 'if-none-match': '*', 'if-match': '"7"' }])(
  'refuses %o',
  (headers) => {
    expect(() => revisionWanted(headers)).toThrow(expect.objectContaining({ type: 'VALIDATION' }));
  },
);
