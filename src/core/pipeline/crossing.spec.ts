// What a layer may give instead of a promise, and what becomes of a call whose layer gives something else.
import { describe, expect, it } from 'vitest';
import { callOf, echoNext, namedLayer, recordingLog } from '../../../test/helpers/call-kit.ts';
import type { Layer, Next } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { buildPipeline } from './build-pipeline.ts';

function layer(name: string, { around, ...changes }: { around?: Layer; onFailure?: 'deny' | 'continue' }) {
  return namedLayer(name, around, changes);
}

describe('a layer', () => {
  it('one that only tells of the answer is not waited for, and has told before those outside go on', async () => {
    const told: unknown[] = [];
    const telling = layer('logging', {
      around: (call, next) => ({ answer: next(call), tell: ({ ok }) => void told.push(ok) }),
    });
    const { next } = echoNext();
    let inside: Promise<ToolResponse> | undefined;
    const innermost: Next = (call) => (inside = next(call));
    const answer = buildPipeline([telling, telling], innermost, recordingLog())(callOf());
    expect(answer).toBe(inside);
    await answer;
    expect(told).toEqual([true, true]);
  });

  it.each(['deny', 'continue'] as const)(
    'what telling throws is logged with its extension and changes no answer (%s)',
    async (onFailure) => {
      const log = recordingLog();
      const telling = layer('logging', {
        onFailure,
        around: (call, next) => ({
          answer: next(call),
          tell() {
            throw new Error('full');
          },
        }),
      });
      expect(await buildPipeline([telling], echoNext().next, log)(callOf())).toMatchObject({ ok: true });
      expect(log.lines).toMatchObject([
        {
          level: 'error',
          message: 'extension crashed',
          fields: { extension: 'logging', err: new Error('full') },
        },
      ]);
    },
  );

  it('what telling goes on to reject with is logged, and ends no process', async () => {
    const log = recordingLog();
    const tell = (() => Promise.reject(new Error('late'))) as () => void;
    const telling = layer('logging', {
      around: (call, next) => ({ answer: next(call), tell }),
    });
    expect(await buildPipeline([telling], echoNext().next, log)(callOf())).toMatchObject({ ok: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.lines).toMatchObject([{ message: 'extension crashed', fields: { err: new Error('late') } }]);
  });

  it.each([
    ['null', () => null],
    ['an empty object', () => ({})],
    ['a number', () => Promise.resolve(42)],
    ['telling that it promises', async (call: ToolCall, next: Next) => ({ answer: next(call), tell() {} })],
  ])(
    'one that gives %s has crashed: refused or left out, and nobody outside sees it',
    async (_what, around) => {
      const run = (onFailure: 'deny' | 'continue') => {
        const seen: ToolResponse[] = [];
        const outside = layer('outside', {
          async around(call, next) {
            const response = await next(call);
            seen.push(response);
            return response;
          },
        });
        const wrong = layer('wrong', { onFailure, around: around as unknown as Layer });
        const answer = buildPipeline([outside, wrong], echoNext().next, recordingLog())(callOf());
        return answer.then((response) => ({ response, seen }));
      };
      const denied = await run('deny');
      expect(denied.response).toMatchObject({ ok: false, error: { reason: 'EXTENSION_FAILED' } });
      expect(denied.seen).toEqual([denied.response]);
      expect(await run('continue')).toMatchObject({ response: { ok: true }, seen: [{ ok: true }] });
    },
  );

  it('an answer of its own that one tells of is waited for, and its failure is a crash', async () => {
    const own = (answer: Promise<ToolResponse>) => layer('own', { around: () => ({ answer, tell() {} }) });
    const { next } = echoNext();
    const run = (answer: Promise<ToolResponse>) =>
      buildPipeline([own(answer)], next, recordingLog())(callOf());
    expect(await run(next(callOf()))).toMatchObject({ ok: true });
    expect(await run(Promise.reject(new Error('x')))).toMatchObject({
      error: { reason: 'EXTENSION_FAILED' },
    });
  });
});
