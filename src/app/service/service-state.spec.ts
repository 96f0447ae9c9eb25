// ServiceState: who refuses calls is told of it, also where that is so from the beginning.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { ServiceState } from './service-state.ts';

it('a gateway that refuses calls from the beginning tells so, and when it takes them', async () => {
  const clock = new FakeClock();
  let degraded: { audit?: string } = { audit: 'the disk is full' };
  const state = new ServiceState({
    executors: () => ({}),
    degraded: () => degraded,
    notes: () => ({}),
    stores: { embedded: false, redis: false, role: 'all' },
    recordsEveryCall: true,
  });
  const told: (string | undefined)[] = [];
  state.ready();
  state.onChange(
    clock,
    (reason) => void told.push(reason),
    (error) => expect.fail(String(error)),
  );
  degraded = {};
  await clock.advance(1_000);
  expect(told).toEqual(['the disk is full', undefined]);
});

it.each([
  [
    { python: { sandbox: 'preferred', runs_without_sandbox: true } },
    /^shell tools and .* code refuse .*; other Python tools run/,
  ],
  [{ python: { sandbox: 'preferred', runs_without_sandbox: false } }, /^shell and Python tools refuse/],
  [{ python: { sandbox: 'preferred' } }, /^shell and Python tools refuse/],
  [{}, /^shell and Python tools refuse/],
])('/readyz says of the sandbox what the Python executor does: %j', (executors, effect) => {
  const state = new ServiceState({
    executors: () => executors,
    degraded: () => ({}),
    notes: () => ({}),
    stores: { embedded: false, redis: false, role: 'all' },
    recordsEveryCall: true,
  });
  const limits = { memoryLimit: 'rlimit', processLimit: 'rlimit' } as const;
  state.confinedBy({ backend: 'none', ...limits, refused: [], warnings: [] });
  expect(state.parts()['sandbox']?.effect).toMatch(effect);
});
