import { describe, expect, it } from 'vitest';
import { callOf, echoNext, namedLayer, recordingLog } from '../../../test/helpers/call-kit.ts';
import type { Layer, Next } from '../../contract/plugin.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { buildPipeline } from './build-pipeline.ts';

/** `around` as an extension would write it. */
function layer(name: string, { around, ...changes }: { around?: Layer; onFailure?: 'deny' | 'continue' }) {
  return namedLayer(name, around, changes);
}

describe('the pipeline', () => {
  it('runs extensions outermost first and comes back the same way', async () => {
    const order: string[] = [];
    const noting = (name: string) =>
      layer(name, {
        async around(call, next) {
          order.push(`${name} in`);
          const response = await next(call);
          order.push(`${name} out`);
          return response;
        },
      });
    const { next } = echoNext();
    await buildPipeline([noting('a'), noting('b')], next, recordingLog())(callOf());
    expect(order).toEqual(['a in', 'b in', 'b out', 'a out']);
  });

  it('a layer that hands the call on and waits for nothing is not waited for itself: the inside’s answer is the answer', async () => {
    const aside = layer('aside', { around: (call, next) => next(call) });
    const { next } = echoNext();
    let inside: Promise<ToolResponse> | undefined;
    const innermost: Next = (call) => (inside = next(call));
    const answer = buildPipeline([aside, aside], innermost, recordingLog())(callOf());
    expect(answer).toBe(inside);
    expect(await answer).toMatchObject({ ok: true });
  });

  it('a layer that hands the call on and asks again later is refused, and the inside runs once', async () => {
    const again: boolean[] = [];
    const aside = layer('aside', {
      around(call, next) {
        const answer = next(call);
        void answer
          .then(() => next(call))
          .then(
            () => again.push(true),
            () => again.push(false),
          );
        return answer;
      },
    });
    const { calls, next } = echoNext();
    expect(await buildPipeline([aside], next, recordingLog())(callOf())).toMatchObject({ ok: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(again).toEqual([false]);
    expect(calls).toHaveLength(1);
  });

  it('a crashed deny extension refuses the call and the inside never runs', async () => {
    const { calls, next } = echoNext();
    const log = recordingLog();
    const crashing = layer('limiter', { around: () => Promise.reject(new Error('secret detail')) });
    const response = await buildPipeline([crashing], next, log)(callOf());
    expect(response).toMatchObject({ ok: false, error: { type: 'INTERNAL', reason: 'EXTENSION_FAILED' } });
    expect(JSON.stringify(response.ok ? '' : response.error)).not.toContain('secret detail');
    expect(calls).toHaveLength(0);
    expect(log.lines[0]?.fields).toMatchObject({ extension: 'limiter' });
  });

  it('an extension that throws before it returns a promise is a crash like any other', async () => {
    const crashing = layer('sync', {
      around: () => {
        throw new Error('at once');
      },
    });
    const response = await buildPipeline([crashing], echoNext().next, recordingLog())(callOf());
    expect(response).toMatchObject({ ok: false, error: { reason: 'EXTENSION_FAILED' } });
  });

  it('a continue extension that crashes before next is skipped', async () => {
    const { calls, next } = echoNext();
    const crashing = layer('metrics', {
      onFailure: 'continue',
      around: () => Promise.reject(new Error('x')),
    });
    const response = await buildPipeline([crashing], next, recordingLog())(callOf());
    expect(response.ok).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it('a continue extension that crashes after next keeps the inner answer, and the inside runs once', async () => {
    const { calls, next } = echoNext();
    const crashing = layer('metrics', {
      onFailure: 'continue',
      async around(call, inner) {
        await inner(call);
        throw new Error('too late');
      },
    });
    const response = await buildPipeline([crashing], next, recordingLog())(callOf());
    expect(response.ok).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it('an extension that calls next twice is refused and the inside runs once', async () => {
    const { calls, next } = echoNext();
    const twice = layer('twice', {
      async around(call, inner) {
        await inner(call);
        return inner(call);
      },
    });
    const response = await buildPipeline([twice], next, recordingLog())(callOf());
    expect(response).toMatchObject({ ok: false, error: { reason: 'EXTENSION_FAILED' } });
    expect(calls).toHaveLength(1);
  });

  it("a deny extension's ToolFailure is its refusal, seen by those outside it", async () => {
    const seen: boolean[] = [];
    const watching = layer('watch', {
      async around(call, next) {
        const response = await next(call);
        seen.push(response.ok);
        return response;
      },
    });
    const refusing = layer('auth', {
      around: () => Promise.reject(new ToolFailure('AUTH', 'Who are you?', { reason: 'CREDENTIAL_MISSING' })),
    });
    const response = await buildPipeline([watching, refusing], echoNext().next, recordingLog())(callOf());
    expect(response).toMatchObject({
      ok: false,
      error: {
        type: 'AUTH',
        message: 'Who are you?',
        retryable: false,
        partialSideEffects: false,
        origin: 'caller',
      },
    });
    expect(seen).toEqual([false]);
  });

  it('an observer cannot refuse: its ToolFailure is a crash, and the call goes on', async () => {
    const observer = layer('logging', {
      onFailure: 'continue',
      around: () => Promise.reject(new ToolFailure('AUTH', 'no')),
    });
    const response = await buildPipeline([observer], echoNext().next, recordingLog())(callOf());
    expect(response.ok).toBe(true);
  });

  it('a deny extension that fails after the tool ran says that side effects are possible', async () => {
    const late = layer('audit', {
      async around(call, next) {
        await next(call);
        throw new Error('disk full');
      },
    });
    const call = callOf();
    const { next } = echoNext();
    const running: typeof next = (inner) => {
      inner.progress.executorEntered = true;
      return next(inner);
    };
    const response = await buildPipeline([late], running, recordingLog())(call);
    expect(response).toMatchObject({
      ok: false,
      error: { type: 'INTERNAL', partialSideEffects: true },
      meta: { tool: 'greet' },
    });
  });
});
