// Specs of extensions and the end of a call's time: none holds a call, whatever it waits for.
import { describe, expect, it } from 'vitest';
import { callOf, echoNext, namedLayer, recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { Layer, Next } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { buildPipeline, type NamedLayer } from './build-pipeline.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { Deadline, type TimedProgress } from '../deadline.ts';

const LIMIT_MS = 1000;

/** `around` as an extension would write it. */
function layer(name: string, { around, ...changes }: { around?: Layer; onFailure?: 'deny' | 'continue' }) {
  return namedLayer(name, around, changes);
}

/** A call with a deadline, in the middle of a chain of layers. */
function setUp(layers: readonly NamedLayer[], innermost?: Next) {
  const clock = new FakeClock();
  const log = recordingLog();
  const deadline = new Deadline(clock, {});
  const base = callOf();
  const progress: TimedProgress = {
    ...base.progress,
    tools: snapshotOf([], []),
    deadline,
    leftAt: 0,
    askedAt: 0,
  };
  const call: ToolCall = { ...base, progress, signal: deadline.signal };
  deadline.arm(LIMIT_MS, LIMIT_MS);
  const { calls, next } = echoNext();
  let answer: ToolResponse | undefined;
  void buildPipeline(layers, innermost ?? next, log)(call).then((response) => (answer = response));
  return { clock, log, deadline, ran: calls, answer: () => answer };
}

const never = () => new Promise<never>(() => {});
const TIMEOUT = { ok: false, error: { type: 'TIMEOUT' } };

describe('an extension that never resolves', () => {
  it.each(['deny', 'continue'] as const)(
    'before the tool (%s): the call is a TIMEOUT on time',
    async (onFailure) => {
      const seen: boolean[] = [];
      const outer = layer('outer', {
        async around(call, next) {
          const response = await next(call);
          seen.push(response.ok);
          return response;
        },
      });
      const { clock, ran, answer } = setUp([outer, layer('hangs', { onFailure, around: never })]);
      await clock.advance(LIMIT_MS);
      await settled();
      expect(answer()).toMatchObject(TIMEOUT);
      // Those outside of it go on as ever.
      expect(seen).toEqual([false]);
      expect(ran).toHaveLength(0);
    },
  );

  it('after the tool: one that may refuse makes a TIMEOUT of it, for one that only watches the answer stands', async () => {
    const after = (onFailure: 'deny' | 'continue') =>
      layer(onFailure, {
        onFailure,
        async around(call, next) {
          await next(call);
          return never();
        },
      });
    for (const [onFailure, expected] of [
      ['deny', TIMEOUT],
      ['continue', { ok: true }],
    ] as const) {
      const { clock, answer } = setUp([after(onFailure)]);
      await clock.advance(LIMIT_MS + 1000);
      await settled();
      expect(answer()).toMatchObject(expected);
    }
  });

  it('several of them, one in the other, hold a call no longer than the grace of each', async () => {
    const slow = (name: string) =>
      layer(name, {
        async around(call, next) {
          await next(call);
          return never();
        },
      });
    const { clock, answer } = setUp([slow('a'), slow('b')], never);
    await clock.advance(LIMIT_MS + 3000);
    await settled();
    expect(answer()).toMatchObject(TIMEOUT);
  });

  it('is said in the log, and so is what it does when it wakes up after all', async () => {
    const late = Promise.withResolvers<ToolResponse>();
    const { clock, log } = setUp([layer('sleeper', { around: () => late.promise })]);
    await clock.advance(LIMIT_MS + 1000);
    expect(log.lines.map(({ fields }) => fields['extension'])).toEqual(['sleeper']);
    late.reject(new Error('far too late'));
    await settled();
    expect(log.lines.map(({ message }) => message)).toEqual([
      'an extension did not end with its call, which went on without it',
      'an extension ended after its call, and what it answered is ignored',
    ]);
  });
});

describe('an extension that wakes up after the deadline', () => {
  it('runs no tool any more, and releases what it holds once', async () => {
    const granted = Promise.withResolvers<void>();
    let released = 0;
    const holder = layer('holder', {
      async around(call, next) {
        await granted.promise;
        try {
          return await next(call);
        } finally {
          released += 1;
        }
      },
    });
    const { clock, ran, answer } = setUp([holder]);
    await clock.advance(LIMIT_MS);
    await settled();
    expect(answer()).toMatchObject(TIMEOUT);
    granted.resolve();
    await settled();
    expect([ran.length, released]).toEqual([0, 1]);
  });

  it('that finishes its work within the grace is waited for: a record of a late call is still written', async () => {
    const written = Promise.withResolvers<void>();
    const inner: Next = () => late.promise;
    const late = Promise.withResolvers<ToolResponse>();
    const audit = layer('audit', {
      async around(call, next) {
        const response = await next(call);
        await written.promise;
        return response;
      },
    });
    const { clock, answer, deadline } = setUp([audit], inner);
    await clock.advance(LIMIT_MS);
    expect(deadline.signal.aborted).toBe(true);
    late.resolve({ ok: true, meta: {} } as ToolResponse);
    await clock.advance(400);
    written.resolve();
    await settled();
    expect(answer()).toEqual({ ok: true, meta: {} });
  });

  it('a call that ended leaves no timer behind', async () => {
    const { clock, deadline, answer } = setUp([layer('quick', {})]);
    await settled();
    expect(answer()).toMatchObject({ ok: true });
    expect(clock.pendingTimers).toBe(1);
    deadline.clear();
    expect(clock.pendingTimers).toBe(0);
  });
});
