// Specs of judgeAttempt: what counts against an upstream, what for it, and what not at all.
import { describe, expect, it } from 'vitest';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import type { Outcome } from './circuit-breaker.ts';
import { judgeAttempt, type FailedAttempt } from './judge-attempt.ts';

const execute = () => Promise.resolve({ data: null });

function judged(error: unknown, extra: Partial<FailedAttempt> = {}): Outcome {
  return judgeAttempt({
    error,
    prepared: { execute },
    givenMs: 1_000,
    timeoutMs: 1_000,
    lateMs: 0,
    ...extra,
  });
}

describe('judgeAttempt', () => {
  it.each<{ why: string; type: ErrorType; extra?: FailureDetails; expected: Outcome }>([
    { why: 'no connection', type: 'UNAVAILABLE', extra: { reason: 'CONNECT_FAILED' }, expected: 'failed' },
    { why: 'a lost one', type: 'UNAVAILABLE', extra: { reason: 'CONNECTION_LOST' }, expected: 'failed' },
    { why: 'a 503', type: 'TRANSIENT', extra: { reason: 'HTTP_503', origin: 'tool' }, expected: 'failed' },
    {
      why: 'a transient failure the gateway saw',
      type: 'TRANSIENT',
      extra: { origin: 'gateway' },
      expected: 'failed',
    },
    { why: 'no answer in time', type: 'TIMEOUT', expected: 'failed' },
    { why: 'what a tool calls transient', type: 'TRANSIENT', expected: 'answered' },
    { why: 'a timeout a tool reports', type: 'TIMEOUT', extra: { origin: 'tool' }, expected: 'answered' },
    { why: 'a 404', type: 'NOT_FOUND', extra: { reason: 'HTTP_404', origin: 'tool' }, expected: 'answered' },
    { why: 'a 429', type: 'RATE_LIMIT', extra: { reason: 'HTTP_429', origin: 'tool' }, expected: 'answered' },
    { why: 'a result that does not fit', type: 'OUTPUT_INVALID', expected: 'answered' },
    { why: "the tool's own error", type: 'PERMANENT', expected: 'answered' },
    { why: 'arguments that were never sent', type: 'VALIDATION', expected: 'unknown' },
    { why: 'a caller who left', type: 'CANCELLED', expected: 'unknown' },
    { why: 'the end of the drain', type: 'UNAVAILABLE', extra: { reason: 'DRAINING' }, expected: 'unknown' },
    { why: 'a full queue', type: 'UNAVAILABLE', extra: { reason: 'QUEUE_FULL' }, expected: 'unknown' },
    {
      why: 'no free connection in its own pool',
      type: 'UNAVAILABLE',
      extra: { reason: 'POOL_EXHAUSTED' },
      expected: 'unknown',
    },
    {
      why: "a tool's process that died",
      type: 'UNAVAILABLE',
      extra: { reason: 'WORKER_DIED' },
      expected: 'unknown',
    },
    {
      why: "a step's open circuit",
      type: 'UNAVAILABLE',
      extra: { reason: 'CIRCUIT_OPEN' },
      expected: 'unknown',
    },
    { why: 'what is wrong for good', type: 'UNAVAILABLE', extra: { retryable: false }, expected: 'unknown' },
    {
      why: 'what the egress policy refuses',
      type: 'PERMANENT',
      extra: { origin: 'gateway' },
      expected: 'unknown',
    },
  ])('$why: $expected', ({ type, extra, expected }) => {
    expect(judged(new ToolFailure(type, 'failed', extra))).toBe(expected);
  });

  it('says nothing of a defect', () => {
    expect(judged(new Error('x'))).toBe('unknown');
  });

  it("does not blame the upstream for a caller's short deadline", () => {
    const timeout = new ToolFailure('TIMEOUT', 'late');
    expect(judged(timeout, { givenMs: 499 })).toBe('unknown');
    expect(judged(timeout, { givenMs: 500 })).toBe('failed');
  });

  it("does not blame what runs a tool's code for code that takes too long", () => {
    const prepared = { execute, runsOwnCode: true };
    expect(judged(new ToolFailure('TIMEOUT', 'late'), { prepared })).toBe('unknown');
  });

  it('does not blame the upstream for a timeout that the gateway itself noticed late', () => {
    const timeout = new ToolFailure('TIMEOUT', 'late');
    expect(judged(timeout, { lateMs: 99 })).toBe('failed');
    expect(judged(timeout, { lateMs: 100 })).toBe('unknown');
    expect(judged(new ToolFailure('UNAVAILABLE', 'x', { reason: 'CONNECT_FAILED' }), { lateMs: 100 })).toBe(
      'failed',
    );
  });

  it('does not blame the upstream for what waited inside the gateway until its time was over', () => {
    const timeout = new ToolFailure('TIMEOUT', 'late');
    const waiting = (reason: string) => new ToolFailure('UNAVAILABLE', 'waiting', { reason });
    expect(judged(timeout, { stalled: waiting('POOL_EXHAUSTED') })).toBe('unknown');
    expect(judged(timeout, { stalled: waiting('DNS_TIMEOUT') })).toBe('failed');
  });
});
