import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { callOf, echoNext, functionOf, outcomeOf, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import type { ToolResponse } from '../../contract/tool-response.ts';
import { MemoryAdmissionControl } from '../../infra/memory/memory-admission-control.ts';
import { admission } from './index.ts';

function setUp() {
  const clock = new FakeClock(1_000);
  const extension = admission.create({
    admission: new MemoryAdmissionControl(clock),
    metrics: recordingMetrics(),
  });
  return { clock, extension };
}

const rated = functionOf({ rateLimits: [{ per: 'tenant', rate: 2, periodMs: 60_000, burst: 2 }] });
const single = functionOf({ concurrency: { limit: 1, per: 'tool', maxQueue: 0, maxWaitMs: 1_000 } });

describe('admission', () => {
  it('a call over the rate is RATE_LIMIT with the time to wait, and another tenant is not affected', async () => {
    const { extension } = setUp();
    const run = (tenantId: string) => {
      const call = callOf({ function: rated, context: { tenantId } });
      return outcomeOf(async () => extension.around(call, echoNext().next, {}), call);
    };
    expect((await run('acme')).ok).toBe(true);
    expect((await run('acme')).rateLimits).toMatchObject([{ limit: 2, remaining: 0, periodMs: 60_000 }]);
    const refused = await run('acme');
    expect(refused).toMatchObject({
      ok: false,
      error: { type: 'RATE_LIMIT', retryable: true, partialSideEffects: false },
    });
    expect(refused.ok ? 0 : refused.error.retryAfterMs).toBeGreaterThan(0);
    expect((await run('other')).ok).toBe(true);
  });

  it('a place is given back when the call ends, even when it ends badly', async () => {
    const { extension } = setUp();
    const call = callOf({ function: single });
    for (let i = 0; i < 3; i += 1) {
      const response = await outcomeOf(
        async () => extension.around(call, () => Promise.reject(new Error('boom')), {}),
        call,
      );
      expect(response).toMatchObject({ ok: false, error: { type: 'INTERNAL' } });
    }
  });

  it('one more than the limit and its queue is CONCURRENCY_LIMIT at once', async () => {
    const { extension } = setUp();
    let finish: (response: ToolResponse) => void = () => undefined;
    const held = new Promise<ToolResponse>((resolve) => (finish = resolve));
    const first = extension.around(callOf({ id: 'a', function: single }), () => held, {});
    const second = callOf({ id: 'b', function: single });
    expect(await outcomeOf(async () => extension.around(second, echoNext().next, {}), second)).toMatchObject({
      ok: false,
      error: { type: 'CONCURRENCY_LIMIT', retryable: true },
    });
    finish(await echoNext().next(second));
    await first;
    expect((await extension.around(second, echoNext().next, {})).ok).toBe(true);
  });

  it('a tool without limits has no such step', () => {
    const { extension } = setUp();
    expect(extension.appliesTo?.(functionOf(), {})).toBe(false);
    expect(extension.appliesTo?.(rated, {})).toBe(true);
  });
});
