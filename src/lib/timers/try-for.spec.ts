// tryFor: again and again, and not for ever.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { tryFor } from './try-for.ts';

it('gives what the first try that succeeds gives', async () => {
  const clock = new FakeClock(0);
  let tries = 0;
  const result = tryFor(clock, { ms: 10_000, everyMs: 1_000 }, async () => {
    tries += 1;
    if (tries < 3) throw new Error('not yet');
    return tries;
  });
  await clock.advance(2_000);
  expect(await result).toBe(3);
});

it('ends with the failure of the last try when the time is over', async () => {
  const clock = new FakeClock(0);
  let tries = 0;
  const failed = tryFor(clock, { ms: 3_000, everyMs: 1_000 }, async () => {
    tries += 1;
    throw new Error(`try ${tries}`);
  }).catch((error: Error) => error.message);
  await clock.advance(5_000);
  expect(await failed).toBe('try 4');
});
