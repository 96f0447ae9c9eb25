// Why the journal takes no records is told as what it is.
import { expect, it } from 'vitest';
import { refusalOf, unavailable } from './refusal.ts';

const withCode = (code: string) => Object.assign(new Error('it failed'), { code });

it.each([
  [withCode('ENOSPC'), 'its disk is full', 'The audit log cannot be written: its disk is full.'],
  [withCode('EIO'), 'its disk fails (EIO)', 'The audit log cannot be written at the moment.'],
  [undefined, 'limits.max_audit_backlog_bytes', 'The audit log cannot be written at the moment.'],
])('of %s an operator is told %s', (failure, told, message) => {
  expect(refusalOf(failure)).toContain(told);
  expect(unavailable(failure)).toMatchObject({ reason: 'AUDIT_UNAVAILABLE', message });
});
