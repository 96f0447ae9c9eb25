// What is on record of a fencing token.
import { expect, it } from 'vitest';
import { callOf } from '../../../test/helpers/call-kit.ts';
import { shownFencingToken } from './fencing-token.ts';

it('a token that is shown to an upstream is on record, beside what else is noted', () => {
  const call = callOf();
  Object.assign(call.progress, { fencingToken: '17', notes: { stale_for: 'TIMEOUT' } });
  expect(shownFencingToken(call.progress)).toBe('17');
  expect(call.progress.notes).toEqual({ stale_for: 'TIMEOUT', fencing_token: '17' });
});

it('a call without a slot shows nothing, and nothing is noted of it', () => {
  const call = callOf();
  expect(shownFencingToken(call.progress)).toBeUndefined();
  expect(call.progress.notes).toBeUndefined();
});
