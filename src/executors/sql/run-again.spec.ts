// runAgain: only what undid itself because of another is run again, so often and no longer.
import { expect, it } from 'vitest';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { runAgain } from './run-again.ts';

const met = (reason: string) => new ToolFailure('CONFLICT', 'There is a row.', { reason });

/** Throws what stands in `errors`, one a time, then gives how often it has run. */
function failing(...errors: Error[]) {
  let runs = 0;
  const run = async () => {
    runs += 1;
    const error = errors[runs - 1];
    if (error !== undefined) throw error;
    return runs;
  };
  return { run, runs: () => runs };
}

it.each(['EXCLUSION_VIOLATION', 'UNIQUE_VIOLATION', 'CONCURRENT_CHANGE'])(
  'after %s a statement is run again until it is through',
  async (reason) => {
    expect(await runAgain(2, failing(met(reason), met(reason)).run, () => true)).toBe(3);
  },
);

it('what is still in its way the last time is what the caller gets', async () => {
  const { run, runs } = failing(met('EXCLUSION_VIOLATION'), met('UNIQUE_VIOLATION'));
  await expect(runAgain(1, run, () => true)).rejects.toMatchObject({ reason: 'UNIQUE_VIOLATION' });
  expect(runs()).toBe(2);
});

it.each([
  ['a commit that nobody knows of', met('COMMIT_UNKNOWN')],
  ['a value that breaks a constraint', met('CONSTRAINT_VIOLATION')],
  ['an error of ours', new Error('x')],
])('after %s nothing is run again', async (_what, error) => {
  const { run, runs } = failing(error);
  await expect(runAgain(5, run, () => true)).rejects.toBe(error);
  expect(runs()).toBe(1);
});

it('nothing is run again for a caller that has gone, or whose time is over', async () => {
  const { run, runs } = failing(met('EXCLUSION_VIOLATION'));
  await expect(runAgain(5, run, () => false)).rejects.toMatchObject({ reason: 'EXCLUSION_VIOLATION' });
  expect(runs()).toBe(1);
});
