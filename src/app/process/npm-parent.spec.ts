import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { onNpmGone } from './npm-parent.ts';

const NPX = { npm_lifecycle_event: 'npx' };

function watched(env: Readonly<Record<string, string>>, pid: number) {
  const timers = new FakeClock();
  const told = { parent: pid, gone: 0 };
  onNpmGone({ env, timers, parent: () => told.parent }, () => (told.gone += 1));
  return { timers, told };
}

it('the end of the shell that npm started it by is told within a second, once', async () => {
  const { timers, told } = watched(NPX, 700);
  await timers.advance(5_000);
  expect(told.gone).toBe(0);
  told.parent = 1;
  await timers.advance(1_000);
  expect(told.gone).toBe(1);
  told.parent = 2;
  await timers.advance(5_000);
  expect(told.gone).toBe(1);
});

it('started by anything else, or in the background, it follows no parent', async () => {
  for (const [env, pid] of [
    [{}, 700],
    [NPX, 1],
  ] as const) {
    const { timers, told } = watched(env, pid);
    told.parent = 2;
    await timers.advance(5_000);
    expect(told.gone).toBe(0);
  }
});
