// Specs of the retry policy.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES, type ErrorType } from '../../contract/call/error-types.ts';
import { ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { mayRetry, retryDelayMs, type RetryQuestion } from './retry-policy.ts';

const POLICY = { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 10_000 };

describe('retryDelayMs', () => {
  it.each([
    { attempt: 1, random: 0, expected: 0 },
    { attempt: 1, random: 0.5, expected: 50 },
    { attempt: 2, random: 0.5, expected: 100 },
    { attempt: 4, random: 0.5, expected: 400 },
    { attempt: 20, random: 0.5, expected: 5000 },
    { attempt: 5000, random: 0.5, expected: 5000 },
  ])('attempt $attempt at chance $random waits $expected ms', ({ attempt, random, expected }) => {
    expect(retryDelayMs(POLICY, attempt, () => random)).toBe(expected);
  });

  it('waits at least as long as the other side asked, beyond its own cap too', () => {
    expect(retryDelayMs(POLICY, 1, () => 0.5, 30_000)).toBe(30_000);
    expect(retryDelayMs(POLICY, 1, () => 0.5, 10)).toBe(50);
  });

  it.each([Number.NaN, -1, 0])('takes %d asked for by a tool for nothing asked', (retryAfterMs) => {
    expect(retryDelayMs(POLICY, 1, () => 0.5, retryAfterMs)).toBe(50);
  });

  it('lies between nothing and the doubled base, never beyond the cap', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 0, max: 60_000 }),
        (attempt, chance, baseDelayMs, maxDelayMs) => {
          const delay = retryDelayMs({ maxAttempts: 3, baseDelayMs, maxDelayMs }, attempt, () => chance);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)));
        },
      ),
    );
  });
});

describe('mayRetry', () => {
  it.each<{ why: string; type: ErrorType; extra?: FailureDetails; tool: Tool; expected: boolean }>([
    { why: 'a transient error of an idempotent tool', type: 'TRANSIENT', tool: 'idempotent', expected: true },
    { why: 'a transient error of a read-only tool', type: 'TRANSIENT', tool: 'read_only', expected: true },
    { why: 'a transient error of any other tool', type: 'TRANSIENT', tool: 'other', expected: false },
    { why: 'an upstream that is down', type: 'UNAVAILABLE', tool: 'idempotent', expected: true },
    {
      why: 'a rate limit of the upstream',
      type: 'RATE_LIMIT',
      extra: { origin: 'tool' },
      tool: 'idempotent',
      expected: true,
    },
    { why: "the gateway's own rate limit", type: 'RATE_LIMIT', tool: 'idempotent', expected: false },
    {
      why: 'a timeout, even if called retryable',
      type: 'TIMEOUT',
      extra: { retryable: true },
      tool: 'idempotent',
      expected: false,
    },
    { why: 'a permanent error', type: 'PERMANENT', tool: 'idempotent', expected: false },
    {
      why: 'what the tool itself calls not retryable',
      type: 'TRANSIENT',
      extra: { retryable: false },
      tool: 'idempotent',
      expected: false,
    },
    {
      why: 'a connection that never came about, of any tool',
      type: 'UNAVAILABLE',
      extra: { reason: 'CONNECT_FAILED' },
      tool: 'other',
      expected: true,
    },
    {
      why: 'a process that could not be started, of any tool',
      type: 'UNAVAILABLE',
      extra: { reason: 'SPAWN_FAILED' },
      tool: 'other',
      expected: true,
    },
    {
      why: 'a connection lost on the way: something may have been sent',
      type: 'UNAVAILABLE',
      extra: { reason: 'CONNECTION_LOST' },
      tool: 'other',
      expected: false,
    },
    {
      why: 'a failure that is known to have left nothing behind, of any tool',
      type: 'UNAVAILABLE',
      extra: { reason: 'CONNECTION_LOST', partialSideEffects: false },
      tool: 'other',
      expected: true,
    },
    {
      why: "a tool's own word that it left nothing behind",
      type: 'TRANSIENT',
      extra: { origin: 'tool', partialSideEffects: false },
      tool: 'other',
      expected: false,
    },
    {
      why: "a tool's own word that it could not connect",
      type: 'UNAVAILABLE',
      extra: { reason: 'CONNECT_FAILED', origin: 'tool' },
      tool: 'other',
      expected: false,
    },
    {
      why: 'a failure that admits side effects',
      type: 'UNAVAILABLE',
      extra: { reason: 'CONNECT_FAILED', partialSideEffects: true },
      tool: 'other',
      expected: false,
    },
  ])('$why: $expected', ({ type, extra, tool, expected }) => {
    expect(
      mayRetry(question({ failure: new ToolFailure(type, 'failed', extra), function: toolOf(tool) })),
    ).toBe(expected);
  });

  it('ends with the last attempt of the policy', () => {
    expect([1, 2, 3, 4].map((attempt) => mayRetry(question({ attempt })))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('begins no attempt that the deadline would cut off', () => {
    expect(mayRetry(question({ delayMs: 200, remainingMs: 251 }))).toBe(true);
    expect(mayRetry(question({ delayMs: 200, remainingMs: 250 }))).toBe(false);
    expect(mayRetry(question({ delayMs: Number.POSITIVE_INFINITY }))).toBe(false);
  });

  it('never runs a tool twice that may not be, unless the gateway itself saw that it did not start', () => {
    const proofs = ['CONNECT_FAILED', 'SPAWN_FAILED', 'QUEUE_FULL', 'CIRCUIT_OPEN'];
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(ERROR_TYPES) as ErrorType[])),
        fc.constantFrom(...proofs, 'CONNECTION_LOST', 'OTHER'),
        fc.constantFrom('caller' as const, 'gateway' as const, 'tool' as const),
        fc.boolean(),
        fc.constantFrom(true, false, undefined),
        (type, reason, origin, retryable, partialSideEffects) => {
          const failure = new ToolFailure(type, 'failed', { reason, origin, retryable, partialSideEffects });
          const unsaid = partialSideEffects === undefined && proofs.includes(reason);
          const proven = origin === 'gateway' && (partialSideEffects === false || unsaid);
          const again = mayRetry(question({ failure, function: toolOf('other') }));
          expect(again && !(proven && retryable)).toBe(false);
        },
      ),
    );
  });
});

type Tool = 'idempotent' | 'read_only' | 'other';

function question(changes: Partial<RetryQuestion>): RetryQuestion {
  return {
    function: toolOf('idempotent'),
    failure: new ToolFailure('TRANSIENT', 'failed'),
    attempt: 1,
    policy: POLICY,
    remainingMs: 30_000,
    delayMs: 100,
    ...changes,
  };
}

function toolOf(tool: Tool): ToolFunction {
  return {
    name: 'probe',
    description: 'A tool to decide about.',
    inputSchema: {},
    configDefaults: {},
    spec: {
      name: 'probe',
      description: 'A tool to decide about.',
      toolType: 'http',
      inputSchema: {},
      implementationConfig: {},
      metadata: {
        version: '1.0.0',
        permissions: [],
        riskLevel: 'low',
        isDangerous: false,
        requiresApproval: false,
        readOnly: tool === 'read_only',
        idempotent: tool === 'idempotent',
        modes: ['voice', 'text'],
        tags: [],
      },
      timeoutMs: 30_000,
      rateLimits: [],
      extensions: {},
      baseDir: '/',
      contentHash: '',
    },
  };
}
