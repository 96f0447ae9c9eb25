// result-guard: no text of a tool leaves it with a finding, whichever way it takes.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  callOf,
  functionOf,
  layerFor,
  outcomeOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import type { CallEvent, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse, ToolResult } from '../../contract/call/tool-response.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import { resultGuard } from './index.ts';

const optionsOf = (...rules: object[]) => resultGuard.optionsSchema.parse({ rules });
const MASK = { detect: 'email', action: 'mask' };
const REFUSE = { detect: 'email', action: 'refuse' };

function setUp(rule: object) {
  const [log, metrics] = [recordingLog(), recordingMetrics()];
  const extension = resultGuard.create({ log, metrics });
  const answer = async (give: (call: ToolCall) => ToolResponse, call = callOf()) =>
    outcomeOf(() => through(extension, call, async (inner) => give(inner), optionsOf(rule)), call);
  const success = (result: ToolResult) => answer((call) => successOf(call, result, 1 << 20));
  const failure = (thrown: ToolFailure) => answer((call) => refusalOf(call, thrown));
  return { log, metrics, extension, answer, success, failure };
}

describe('result-guard', () => {
  it('is no part of the chain of a tool without rules', () => {
    const { extension } = setUp(MASK);
    expect(layerFor(extension, functionOf(), optionsOf())).toBeUndefined();
  });

  it('an answer without findings is the very same', async () => {
    const { answer } = setUp(MASK);
    let given: ToolResponse | undefined;
    expect(await answer((call) => (given = successOf(call, { data: { a: ['x'] } }, 1_000)))).toBe(given);
  });

  it('masks data, its text and the intents', async () => {
    const { success, metrics } = setUp(MASK);
    const result = { data: ['bob@example.com'], intents: [{ type: 'SAY', text: 'bob@example.com' }] };
    expect(await success(result)).toMatchObject({
      data: ['[email]'],
      dataJson: '["[email]"]',
      intents: [{ type: 'SAY', text: '[email]' }],
    });
    expect(metrics.values.get('ute_guard_findings_total{greet,result,email,mask}')).toBe(2);
  });

  it('masks the words of an error, and what is logged of its cause', async () => {
    const { failure } = setUp(MASK);
    const thrown = new ToolFailure('PERMANENT', 'bob@example.com is gone', {
      origin: 'tool',
      details: { who: 'bob@example.com' },
      cause: new Error('bob@example.com'),
    });
    const response = await failure(thrown);
    expect(response).toMatchObject({
      error: { message: '[email] is gone', details: { who: '[email]' } },
      cause: { type: 'Error', message: '[email]' },
    });
    expect(JSON.stringify(response)).not.toContain('bob@');
  });

  it.each([
    ['an exception', new Error('cause: bob@example.com')],
    ['a text', 'Thrown: bob@example.com'],
    ['an exception with a cause', new Error('x', { cause: new Error('bob@example.com') })],
    ['several', new AggregateError([new Error('bob@example.com')], 'x')],
    ['one with members', Object.assign(new Error('x'), { 'eve@example.com': ['bob@example.com'] })],
    ['what says otherwise as JSON', { toJSON: () => 'bob@example.com', who: 'bob@example.com' }],
  ])('an exception that says nothing to callers gets into the log with masks: %s', async (_what, cause) => {
    const response = await setUp(MASK).failure(new ToolFailure('PERMANENT', 'It threw.', { cause }));
    expect(JSON.stringify(response)).toContain('[email]');
    expect(inspect(response, { depth: null, showHidden: true })).not.toContain('@example.com');
  });

  it('an exception that a rule refuses, or that cannot be read, is left out of the log, and its error stands', async () => {
    const unreadable = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('bob@example.com');
      },
    });
    for (const [cause, why] of [
      [new Error('bob@example.com'), 'holds what the rule "email" refuses'],
      [unreadable, 'cannot be read'],
    ] as const) {
      expect(await setUp(REFUSE).failure(new ToolFailure('PERMANENT', 'It threw.', { cause }))).toMatchObject(
        {
          error: { type: 'PERMANENT', message: 'It threw.' },
          cause: `[left out: the exception ${why}]`,
        },
      );
    }
  });

  it('what an exception carries without end is read to a bound', async () => {
    const many = Object.assign(new Error('x'), { all: Array.from({ length: 1 << 20 }, () => 'y') });
    const endless: Record<string, unknown> = { many };
    endless['self'] = endless;
    const response = await setUp(MASK).failure(new ToolFailure('PERMANENT', 'x', { cause: endless }));
    expect(JSON.stringify(response).length).toBeLessThan(20_000);
  });

  it('a refused answer says where, and what the tool did stays done', async () => {
    const { success, failure } = setUp(REFUSE);
    expect(await success({ data: { a: 'bob@example.com' } })).toMatchObject({
      error: {
        type: 'OUTPUT_INVALID',
        reason: 'CONTENT_REFUSED',
        details: { pointer: '/data/a', rule: 'email' },
      },
    });
    const thrown = new ToolFailure('PERMANENT', 'bob@example.com', {
      origin: 'tool',
      partialSideEffects: true,
    });
    expect(await failure(thrown)).toMatchObject({
      error: { reason: 'CONTENT_REFUSED', partialSideEffects: true, details: { pointer: '/message' } },
    });
  });

  it('while the tool runs, nothing is told but how far it has come', async () => {
    const { answer } = setUp(MASK);
    const told: CallEvent[] = [];
    const call = callOf({ request: requestOf({ emit: (event) => void told.push(event) }) });
    await answer((inner) => {
      const { emit } = inner.request;
      emit?.({ kind: 'progress', fraction: 0.5, message: 'bob@example.com' });
      emit?.({ kind: 'progress', message: 'bob@example.com' });
      emit?.({ kind: 'log', level: 'info', message: 'bob@example.com' });
      emit?.({ kind: 'partial', data: 'bob@example.com' });
      return successOf(inner, { data: null }, 1_000);
    }, call);
    expect(told).toEqual([{ kind: 'progress', fraction: 0.5 }]);
  });

  it('asking is no action of a result', () => {
    expect(resultGuard.optionsSchema.safeParse({ rules: [{ detect: 'email', action: 'ask' }] }).success).toBe(
      false,
    );
  });
});
