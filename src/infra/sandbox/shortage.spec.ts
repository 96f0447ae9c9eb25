// What is taken for a passing shortage of the machine, after which the sandbox is tried again, and what is not.
import { expect, it } from 'vitest';
import { toolFailure } from '../../contract/call/failure.ts';
import { shortageIn, TrialCutShort } from './shortage.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: it failed, mkdtemp`), { code });
const SET_UP = 'bwrap: Creating new namespace failed';

it.each([
  ['a full disk', withCode('ENOSPC'), 'the disk is full'],
  [
    'a full disk, in the words of a program',
    new Error('bwrap: x: No space left on device'),
    'the disk is full',
  ],
  ['a disk that is read only', withCode('EROFS'), 'the disk takes nothing'],
  ['no memory', new Error('bwrap: fork: Cannot allocate memory'), 'this machine is short of memory'],
  ['no processes', withCode('EAGAIN'), 'the limit of processes is reached'],
  [
    'no open files',
    new Error('prlimit: Too many open files'),
    'the limit of open files is too low, or reached (ulimit -n, LimitNOFILE)',
  ],
  ['no time', new TrialCutShort('the trial run took longer than 10000 ms'), 'the trial took too long'],
])('%s is a passing shortage', (_of, error, told) => {
  expect(shortageIn(error)).toBe(told);
});

it('the cause of a failed start is looked at, not the failure', () => {
  const failure = toolFailure('SANDBOX_UNAVAILABLE', 'It did not start.', { cause: withCode('EMFILE') });
  expect(shortageIn(failure)).toContain('open files');
});

it.each([
  [
    'a machine that makes no namespaces, which the kernel tells with the code of a full disk',
    new Error(`${SET_UP}: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)`),
  ],
  ['the same by an older program', new Error(`${SET_UP}: No space left on device`)],
  ['a machine that forbids namespaces', new Error(`${SET_UP}: Operation not permitted`)],
  ['a program that is not there', new Error('bubblewrap (bwrap) is not installed')],
  ['what is no error', 'ENOSPC'],
])('%s is no passing shortage', (_of, error) => {
  expect(shortageIn(error)).toBeUndefined();
});
