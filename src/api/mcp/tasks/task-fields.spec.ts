// What a task says of itself follows its call, and never goes back from an end.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { storedCall } from '../../../../test/helpers/async-kit.ts';
import { CALL_STATUSES, type StoredCall } from '../../../ports/calls/call-store.ts';
import type { Era } from '../protocol/exchange.ts';
import { isOver, statusOf, taskFields } from './task-fields.ts';

const TERMS = { era: 'modern', opensUrls: true, approvalsUrl: 'https://a.example', keptMs: 1_000 } as const;
const waiting = (shown = false): StoredCall =>
  storedCall({
    status: 'waiting_approval',
    approval: { id: 'ap1', expires_at: '2026-01-01T00:00:00Z', ...(shown && { shown: true as const }) },
  });
const ended = (status: StoredCall['status']) => storedCall({ status, finishedAt: new Date(2_000) });

it.each([
  ['queued', 'working', 'working'],
  ['running', 'working', 'working'],
  ['succeeded', 'completed', 'completed'],
  ['failed', 'failed', 'completed'],
  ['outcome_unknown', 'failed', 'completed'],
  ['cancelled', 'cancelled', 'cancelled'],
] as const)('a call that is %s is a task that is %s in 2025, and %s in 2026', (status, legacy, modern) => {
  const isEnd = !['queued', 'running'].includes(status);
  const call = isEnd ? ended(status) : storedCall({ status });
  expect(statusOf(call, { era: 'legacy', opensUrls: true }, false)).toBe(legacy);
  expect(statusOf(call, { era: 'modern', opensUrls: true }, false)).toBe(modern);
});

it('only an error of JSON-RPC fails a task of 2026', () => {
  expect(statusOf(ended('failed'), TERMS, true)).toBe('failed');
});

it('one that waits for a human requires input of a client that can show it, until it has', () => {
  expect(taskFields(waiting(), TERMS).status).toBe('input_required');
  expect(taskFields(waiting(true), TERMS).status).toBe('working');
  const unseen = taskFields(waiting(), { ...TERMS, opensUrls: false });
  expect(unseen).toMatchObject({
    status: 'working',
    statusMessage: expect.stringContaining('https://a.example/v1/approvals/ap1'),
  });
});

it('once cancelled, one of 2025 stays so whatever its call becomes', () => {
  const states = fc.record({
    status: fc.constantFrom(...CALL_STATUSES),
    cancelRequested: fc.constant(true),
    finishedAt: fc.constantFrom(null, new Date(5)),
  });
  fc.assert(
    fc.property(states, (state) => {
      const call = storedCall(state);
      expect([statusOf(call, { era: 'legacy', opensUrls: false }, false), isOver(call, 'legacy')]).toEqual([
        'cancelled',
        true,
      ]);
    }),
  );
});

it.each(['modern', 'legacy'] as const)(
  'for how long it is kept is said, from its creation on: %s',
  (era: Era) => {
    const name = era === 'modern' ? 'ttlMs' : 'ttl';
    const fields = (call: StoredCall, keptMs: number) =>
      (taskFields(call, { ...TERMS, era, keptMs }) as Record<string, unknown>)[name];
    expect(fields(ended('succeeded'), 1_000)).toBe(3_000);
    expect(fields(storedCall(), 1_000)).toBe(1_000);
    expect(fields(storedCall(), Number.POSITIVE_INFINITY)).toBeNull();
  },
);

it('a failed one says why, in words of the gateway', () => {
  const call = storedCall({
    status: 'failed',
    errorType: 'TIMEOUT',
    reason: 'WAITED_TOO_LONG',
    finishedAt: new Date(1),
  });
  expect(taskFields(call, TERMS).statusMessage).toBe('TIMEOUT: WAITED_TOO_LONG');
});
