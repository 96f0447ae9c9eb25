// Specs of runAttempts: retries within policy, budget and deadline, and what the circuit breaker makes of them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, recordingMetrics, timedCallOf } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { CircuitBreaker, FAILURES_IN_A_ROW, FIRST_OPEN_MS } from './circuit-breaker.ts';
import { RetryBudget } from './retry-budget.ts';
import { runAttempts, type AttemptDeps } from './run-attempts.ts';

const RETRIES = { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 1_000 };
const OK: ToolResult = { data: 'ok' };

function bench(withCircuit = true) {
  const clock = new FakeClock(1_000_000);
  const random = () => 0.5;
  const metrics = recordingMetrics();
  const counter = (name: string) => metrics.counter({ name, help: name }).with();
  const deps: AttemptDeps = {
    clock,
    random,
    budget: new RetryBudget(),
    ...(withCircuit && {
      circuit: new CircuitBreaker({ clock, random: () => 0, onChange: () => undefined }),
    }),
    retries: counter('retries'),
    exhausted: counter('exhausted'),
    seconds: metrics.histogram({ name: 'seconds', help: 'x', buckets: [] }).with(),
  };

  /** Runs until it is settled, moving the clock on as far as needed. */
  async function outcomeOf(fn: ToolFunction, execute: PreparedFunction['execute'], timeoutMs?: number) {
    const call = timedCallOf(clock, timeoutMs ?? fn.spec.timeoutMs, { function: fn });
    const startedAt = clock.now();
    const ended: { result?: ToolResult; failure?: unknown; afterMs: number }[] = [];
    void runAttempts(call, fn, { execute }, deps).then(
      (result) => ended.push({ result, afterMs: clock.now() - startedAt }),
      (failure: unknown) => ended.push({ failure, afterMs: clock.now() - startedAt }),
    );
    await settled();
    for (let step = 0; ended.length === 0 && step < 1_000; step += 1) await clock.advance(10);
    return {
      afterMs: 0,
      ...ended[0],
      attempts: call.progress.attempts,
      entered: call.progress.executorEntered,
      mayHaveRun: call.progress.mayHaveRun ?? false,
    };
  }
  return { clock, deps, metrics, outcomeOf };
}

const down = (extra: FailureDetails = {}) =>
  Promise.reject(new ToolFailure('UNAVAILABLE', 'down', { reason: 'CONNECTION_LOST', ...extra }));

describe('the circuit breaker around attempts', () => {
  it('refuses at once and before the executor, also where the tool has retries', async () => {
    const { outcomeOf } = bench();
    const fn = functionOf({ retries: RETRIES, timeoutMs: 30_000, metadata: { idempotent: true } });
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) await outcomeOf(functionOf(), () => down());
    const refused = await outcomeOf(fn, async () => OK);
    expect(refused).toMatchObject({ attempts: 0, entered: false, afterMs: 0 });
    expect(refused.failure).toMatchObject({ reason: 'CIRCUIT_OPEN', retryAfterMs: FIRST_OPEN_MS });
  });

  it('a retry that it stops leaves the failure before it', async () => {
    const { outcomeOf } = bench();
    for (let call = 1; call < FAILURES_IN_A_ROW; call += 1) await outcomeOf(functionOf(), () => down());
    const fn = functionOf({ retries: RETRIES, metadata: { idempotent: true } });
    const ended = await outcomeOf(fn, () => down());
    expect(ended).toMatchObject({ attempts: 1, afterMs: 0, failure: { reason: 'CONNECTION_LOST' } });
  });

  it('closes again when the upstream answers', async () => {
    const { outcomeOf, deps, clock } = bench();
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) await outcomeOf(functionOf(), () => down());
    await clock.advance(FIRST_OPEN_MS);
    const notFound = () => Promise.reject(new ToolFailure('NOT_FOUND', 'no', { origin: 'tool' }));
    for (let probe = 0; probe < 3; probe += 1) await outcomeOf(functionOf(), notFound);
    expect(deps.circuit?.state).toBe('closed');
  });

  it('callers with short deadlines do not open it', async () => {
    const { outcomeOf, deps } = bench();
    const never = () => new Promise<never>(() => undefined);
    for (let call = 0; call < 50; call += 1) await outcomeOf(functionOf(), never, 20);
    expect(deps.circuit?.state).toBe('closed');
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) await outcomeOf(functionOf(), never);
    expect(deps.circuit?.state).toBe('open');
  });

  it('a gateway that was held up, and notices all timeouts late, does not open it', async () => {
    const { deps, clock } = bench();
    const fn = functionOf({ timeoutMs: 1_000 });
    const timesOut = async (lateMs: number) => {
      const call = { ...timedCallOf(clock, 60_000, { function: fn }), deadline: clock.now() + 1_000 };
      const execute = async () => {
        await clock.advance(1_000 + lateMs);
        throw new ToolFailure('TIMEOUT', 'late');
      };
      await expect(runAttempts(call, fn, { execute }, deps)).rejects.toMatchObject({ type: 'TIMEOUT' });
    };
    for (let call = 0; call < 50; call += 1) await timesOut(300);
    expect(deps.circuit?.state).toBe('closed');
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) await timesOut(10);
    expect(deps.circuit?.state).toBe('open');
  });

  it('what an extension gives a call less time for does not open it, however late that is noticed', async () => {
    const { outcomeOf, deps, clock } = bench();
    const fn = functionOf({ timeoutMs: 1_000 });
    const late = async () => {
      await clock.advance(550);
      throw new ToolFailure('TIMEOUT', 'late', { reason: 'LATE' });
    };
    for (let call = 0; call < 50; call += 1) await outcomeOf(fn, late, 490);
    expect(deps.circuit?.state).toBe('closed');
  });

  it('calls that wait for a connection of their own pool until their time is over do not open it', async () => {
    const { deps, clock } = bench();
    const fn = functionOf({ timeoutMs: 1_000 });
    for (let times = 0; times < 50; times += 1) {
      const call = timedCallOf(clock, 1_000, { function: fn });
      const waits = async () => {
        call.progress.stalled = () => new ToolFailure('UNAVAILABLE', 'waits', { reason: 'POOL_EXHAUSTED' });
        await clock.advance(1_000);
        throw new ToolFailure('TIMEOUT', 'late');
      };
      await expect(runAttempts(call, fn, { execute: waits }, deps)).rejects.toMatchObject({
        type: 'TIMEOUT',
      });
    }
    expect(deps.circuit?.state).toBe('closed');
  });

  it('a call whose time was over before it began takes no probe', async () => {
    const { outcomeOf, deps, clock } = bench();
    for (let call = 0; call < FAILURES_IN_A_ROW; call += 1) await outcomeOf(functionOf(), () => down());
    await clock.advance(FIRST_OPEN_MS);
    const fn = functionOf();
    const gone = new AbortController();
    gone.abort(new ToolFailure('CANCELLED', 'gone'));
    await expect(
      runAttempts({ ...callOf(), signal: gone.signal }, fn, { execute: async () => OK }, deps),
    ).rejects.toMatchObject({ type: 'CANCELLED' });
    expect(await outcomeOf(fn, async () => OK)).toMatchObject({ result: OK });
  });
});

describe('retries', () => {
  it('remember that an attempt may have run, and not one that is known to have not', async () => {
    const fn = functionOf({ retries: RETRIES, metadata: { idempotent: true } });
    const refused = () => down({ reason: 'CONNECT_FAILED' });
    expect(await bench(false).outcomeOf(fn, refused)).toMatchObject({ attempts: 3, mayHaveRun: false });
    let tries = 0;
    const lost = () => ((tries += 1) === 1 ? down() : refused());
    expect(await bench(false).outcomeOf(fn, lost)).toMatchObject({ attempts: 3, mayHaveRun: true });
  });

  const reader = functionOf({ retries: RETRIES, timeoutMs: 5_000, metadata: { readOnly: true } });

  it('wait as long as the upstream asks, where the deadline allows it', async () => {
    const { outcomeOf } = bench(false);
    let runs = 0;
    const flaky = () => ((runs += 1) === 1 ? down({ retryAfterMs: 2_000 }) : Promise.resolve(OK));
    expect(await outcomeOf(reader, flaky)).toMatchObject({ result: OK, attempts: 2, afterMs: 2_000 });
    const ended = await outcomeOf(reader, () => down({ retryAfterMs: 5_000 }));
    expect(ended).toMatchObject({ attempts: 1, afterMs: 0, failure: { retryAfterMs: 5_000 } });
  });

  it('end when too much of what this upstream was asked has failed, and this is counted', async () => {
    const { outcomeOf, metrics } = bench(false);
    const attempts: number[] = [];
    for (let call = 0; call < 4; call += 1) attempts.push((await outcomeOf(reader, () => down())).attempts);
    expect(attempts).toEqual([3, 2, 1, 1]);
    expect(metrics.values.get('exhausted')).toBe(3);
  });

  it('keep to policy, harm and deadline for any history', async () => {
    const failure = fc.record({
      type: fc.constantFrom('UNAVAILABLE' as const, 'TRANSIENT' as const, 'PERMANENT' as const),
      reason: fc.constantFrom('CONNECT_FAILED', 'CONNECTION_LOST', 'HTTP_503'),
      origin: fc.constantFrom('gateway' as const, 'tool' as const),
      retryAfterMs: fc.option(fc.nat(3_000), { nil: undefined }),
      tookMs: fc.nat(400),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(failure, { maxLength: 12 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 100, max: 4_000 }),
        async (failures, idempotent, maxAttempts, timeoutMs) => {
          const { outcomeOf, clock } = bench(false);
          const fn = functionOf({
            retries: { ...RETRIES, maxAttempts },
            timeoutMs,
            metadata: { idempotent },
          });
          const begun: number[] = [];
          const startedAt = clock.now();
          const execute = async () => {
            const next = failures[begun.length];
            begun.push(clock.now() - startedAt);
            if (next === undefined) return OK;
            await new Promise<void>((resolve) => void clock.after(next.tookMs, resolve));
            throw new ToolFailure(next.type, 'failed', next);
          };
          const { attempts, afterMs } = await outcomeOf(fn, execute);
          expect(attempts).toBe(begun.length);
          expect(attempts).toBeLessThanOrEqual(maxAttempts);
          expect(begun.every((at) => at < timeoutMs)).toBe(true);
          expect(afterMs).toBeLessThanOrEqual(timeoutMs + 10);
          const harmless = ({ reason, origin }: (typeof failures)[number]) =>
            idempotent || (reason === 'CONNECT_FAILED' && origin === 'gateway');
          expect(failures.slice(0, attempts - 1).every(harmless)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});
