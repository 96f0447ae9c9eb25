// What says that a disk is full, in whatever words, and what does not.
import { expect, it } from 'vitest';
import { isDiskFull } from './disk-full.ts';

const withCode = (code: string) => Object.assign(new Error('it failed'), { code });

it.each([
  ['a system call', withCode('ENOSPC')],
  ['a quota', withCode('EDQUOT')],
  ['a database', withCode('53100')],
  ['a program', new Error('FATAL:  could not write lock file "postmaster.pid": No space left on device')],
  [
    'what lies behind a failure',
    new Error('it failed', { cause: new Error('so', { cause: withCode('ENOSPC') }) }),
  ],
])('a full disk is known from what %s says', (_of, error) => {
  expect(isDiskFull(error)).toBe(true);
});

it('nothing else is taken for one, not even a failure that is its own cause', () => {
  const circle = new Error('it failed');
  circle.cause = circle;
  for (const error of [undefined, null, 'ENOSPC', withCode('53200'), withCode('EIO'), circle])
    expect(isDiskFull(error)).toBe(false);
});
