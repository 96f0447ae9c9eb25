// What says that a disk is full, in whatever words, and what does not.
import { expect, it } from 'vitest';
import { isDiskFull, SAYS_DISK_FULL } from './disk-full.ts';

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

it.each([
  ['no space left', 'initdb: error: could not write to file "x": No space left on device'],
  ['a quota', 'tar: cannot write: Disk quota exceeded'],
  ['a code alone', 'npm error code ENOSPC\nnpm error syscall write'],
  ['the code of a quota', 'EDQUOT'],
  ['Node', 'ENOSPC: no space left on device, write'],
  ['it on another line', 'bwrap: Creating new namespace failed\nnpm error code ENOSPC'],
])('a full disk is known from a text that tells of %s', (_of, text) => {
  expect(SAYS_DISK_FULL.test(text)).toBe(true);
});

it('no other text is taken for one', () => {
  const NAMESPACES = 'bwrap: Creating new namespace failed';
  for (const text of [
    '',
    'Too many open files',
    'File too large',
    'XENOSPC',
    `${NAMESPACES}: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)`,
    `${NAMESPACES}: No space left on device`,
  ])
    expect(SAYS_DISK_FULL.test(text)).toBe(false);
});
