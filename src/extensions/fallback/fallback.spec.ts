// The safe answer as a layer: what it may stand in for, what it is made of, lateness, and what is refused at load.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callOf,
  functionOf,
  recordingLog,
  recordingMetrics,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import { ERROR_TYPES, type ErrorType } from '../../contract/call/error-types.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import { specOf } from '../../../test/helpers/call-kit.ts';
import { fallback as plugin } from './index.ts';

const INPUT = {
  type: 'object',
  properties: {
    topic: { type: 'string' },
    count: { type: 'integer' },
    place: { type: 'string', default: 'Berlin' },
    note: { type: 'string' },
    list: { type: 'array' },
  },
  required: ['topic', 'count', 'list'],
};

function kit(own: JsonObject, changes: Parameters<typeof functionOf>[0] = {}) {
  const clock = new FakeClock();
  const log = recordingLog();
  const metrics = recordingMetrics();
  const fn = functionOf({
    inputSchema: INPUT,
    metadata: { readOnly: true },
    ...changes,
    extensions: { fallback: own },
  });
  const options = plugin.optionsSchema.parse(own);
  const extension = plugin.create({ clock, log, metrics });
  const now = clock.now();
  const make = (given: Partial<ToolCall> = {}) =>
    callOf({
      function: fn,
      arguments: { topic: 'refunds', count: 2 },
      receivedAt: now,
      deadline: now + 1_000,
      ...given,
    });
  const failing = (type: ErrorType, extra: FailureDetails = {}) => {
    const call = make();
    return through(
      extension,
      call,
      async (inner) => refusalOf(inner, new ToolFailure(type, 'No.', extra)),
      options,
    );
  };
  return {
    clock,
    log,
    metrics,
    extension,
    options,
    make,
    failing,
    faults: plugin.check?.(fn, options) ?? [],
  };
}

const dataOf = (response: ToolResponse) => (response.ok ? response.data : response.error.type);
const SENTENCE = { message: 'Shall I take a message?' };

describe('fallback', () => {
  it('stands in for TIMEOUT, TRANSIENT, UNAVAILABLE and OUTPUT_INVALID, and for nothing else', async () => {
    const replaced: string[] = [];
    for (const type of Object.keys(ERROR_TYPES) as ErrorType[]) {
      const response = await kit(SENTENCE).failing(type);
      if (response.ok) replaced.push(type);
      expect(response.meta.fallback).toBe(response.ok);
    }
    expect(replaced.toSorted()).toEqual(['OUTPUT_INVALID', 'TIMEOUT', 'TRANSIENT', 'UNAVAILABLE']);
  });

  it('is marked, and leaves what really happened to the observers', async () => {
    const { extension, options, make, log, metrics } = kit(SENTENCE);
    const call = make();
    const cause = new Error('socket closed');
    const response = await through(
      extension,
      call,
      async (inner) => {
        inner.progress.attempts = 3;
        inner.progress.cached = true;
        return refusalOf(inner, new ToolFailure('UNAVAILABLE', 'Down.', { reason: 'UPSTREAM_DOWN', cause }));
      },
      options,
    );
    expect(response).toMatchObject({ ok: true, data: SENTENCE, dataJson: JSON.stringify(SENTENCE) });
    expect(response.meta).toMatchObject({ fallback: true, cached: false, attempts: 3 });
    expect(call.progress.notes).toEqual({ fallback_for: 'UNAVAILABLE', fallback_reason: 'UPSTREAM_DOWN' });
    expect(metrics.values.get('ute_fallbacks_total{greet,UNAVAILABLE}')).toBe(1);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { type: 'UNAVAILABLE', err: cause } }]);
  });

  it('does not stand in where something may have been done', async () => {
    expect(dataOf(await kit(SENTENCE).failing('UNAVAILABLE', { partialSideEffects: true }))).toBe(
      'UNAVAILABLE',
    );
  });

  it('stands in only for the errors that it is for', async () => {
    const { failing } = kit({ ...SENTENCE, on: ['TRANSIENT'] });
    expect(dataOf(await failing('TRANSIENT'))).toEqual(SENTENCE);
    expect(dataOf(await failing('TIMEOUT'))).toBe('TIMEOUT');
  });

  it('leaves answers and dry runs as they are', async () => {
    const { extension, options, make } = kit(SENTENCE);
    const inner = async (call: ToolCall) => successOf(call, { data: 1 }, 99);
    expect(dataOf(await through(extension, make(), inner, options))).toBe(1);
    const dry = make({ context: { dryRun: true } });
    const failed = async (call: ToolCall) => refusalOf(call, new ToolFailure('TIMEOUT', 'Late.'));
    expect(dataOf(await through(extension, dry, failed, options))).toBe('TIMEOUT');
  });

  it('is there only for tools that ask for it', () => {
    const { extension, options } = kit(SENTENCE);
    expect(layerFor(extension, functionOf(), options)).toBeUndefined();
  });
});

describe('a late call', () => {
  it('is cancelled, with the safe answer at that moment', async () => {
    const { clock, extension, options, make } = kit({ ...SENTENCE, after_ms: 300 });
    let seen: ToolCall | undefined;
    const call = make();
    const inner = (given: ToolCall) =>
      new Promise<ToolResponse>((resolve) => {
        seen = given;
        given.signal.addEventListener('abort', () => resolve(refusalOf(given, given.signal.reason)));
      });
    const answer = through(extension, call, inner, options);
    await clock.advance(299);
    expect([seen?.signal.aborted, seen?.deadline]).toEqual([false, call.receivedAt + 300]);
    await clock.advance(1);
    expect(dataOf(await answer)).toEqual(SENTENCE);
    expect(call.signal.aborted).toBe(false);
    expect(call.progress.notes).toEqual({ fallback_for: 'TIMEOUT', fallback_reason: 'LATE' });
  });

  it('leaves no timer behind when it is in time after all', async () => {
    const { clock, extension, options, make } = kit({ ...SENTENCE, after_ms: 300 });
    await through(extension, make(), async (call) => successOf(call, { data: 1 }, 99), options);
    expect(clock.pendingTimers).toBe(0);
  });

  it('still ends when its caller goes away, without a safe answer', async () => {
    const { extension, options, make } = kit({ ...SENTENCE, after_ms: 300 });
    const gone = new AbortController();
    const answer = through(
      extension,
      make({ signal: gone.signal }),
      (given) =>
        new Promise((resolve) =>
          given.signal.addEventListener('abort', () => resolve(refusalOf(given, given.signal.reason))),
        ),
      options,
    );
    await settled();
    gone.abort(new ToolFailure('CANCELLED', 'Gone.'));
    expect(dataOf(await answer)).toBe('CANCELLED');
  });
});

describe('templates', () => {
  it('write arguments as text into text, and with their type where they stand alone', async () => {
    const data = {
      say: '{topic} x{count} in {place}, {{ok}}',
      count: '{count}',
      nested: [{ topic: '{topic}' }],
      n: 1,
    };
    expect(dataOf(await kit({ data }).failing('TIMEOUT'))).toEqual({
      say: 'refunds x2 in Berlin, {ok}',
      count: 2,
      nested: [{ topic: 'refunds' }],
      n: 1,
    });
  });

  it('take text for text, whatever it looks like, and cut it at a bound', async () => {
    const { extension, options, make } = kit({ message: 'About {topic}: {topic}' });
    const failed = async (call: ToolCall) => refusalOf(call, new ToolFailure('TIMEOUT', 'Late.'));
    const answerOf = async (topic: string) =>
      dataOf(await through(extension, make({ arguments: { topic, count: 1 } }), failed, options));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ maxLength: 999 }), fc.constant('{count} ${1+1} {{{'), fc.constant('$&$1')),
        async (topic) => {
          expect(await answerOf(topic)).toEqual({ message: `About ${topic}: ${topic}` });
        },
      ),
      { numRuns: 50 },
    );
    const long = (await answerOf(`${'x'.repeat(999)}😀tail`)) as { message: string };
    expect(long.message.slice(0, 30)).toBe(`About ${'x'.repeat(24)}`);
    expect(long.message).toHaveLength(6 + 1_000 + 2 + 1_000);
    expect(long.message.isWellFormed()).toBe(true);
  });

  it("fill in the agent's configuration where the parameter says so", async () => {
    const spec = specOf({
      configSchema: { type: 'object', properties: { city: { type: 'string', default: 'Rome' } } },
      extensions: { fallback: { message: 'No weather for {city}.' } },
      actions: [
        {
          name: 'weather',
          description: 'Weather',
          parameters: [{ name: 'city', type: 'string', required: false, defaultFromConfig: 'city' }],
        },
      ],
    });
    const [fn] = functionsOf(spec);
    if (fn === undefined) throw new Error('no function');
    const { extension, options } = kit({ message: 'No weather for {city}.' });
    expect(plugin.check?.(fn, options)).toEqual([]);
    const failed = async (call: ToolCall) => refusalOf(call, new ToolFailure('TIMEOUT', 'Late.'));
    const answerOf = async (changes: Partial<ToolCall>) =>
      dataOf(await through(extension, callOf({ function: fn, ...changes }), failed, options));
    expect(await answerOf({ config: fn.configDefaults })).toEqual({ message: 'No weather for Rome.' });
    expect(await answerOf({ config: { city: 'Oslo' } })).toEqual({ message: 'No weather for Oslo.' });
    expect(await answerOf({ arguments: { city: 'Bonn' } })).toEqual({ message: 'No weather for Bonn.' });
  });

  it('leave the error where the filled answer would not fit the output schema', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer', maximum: 1 } } };
    const { failing, log } = kit({ data: { n: '{count}' } }, { outputSchema });
    expect(dataOf(await failing('TIMEOUT'))).toBe('TIMEOUT');
    expect(log.lines[0]?.message).toContain('does not fit');
  });
});

describe('options of the fallback', () => {
  const strict = { type: 'object', properties: { opens: { type: 'string' } }, required: ['opens'] };

  it.each<[string, JsonObject, Parameters<typeof functionOf>[0], (string | number)[], string]>([
    ['no answer', {}, {}, [], 'message or data is required'],
    ['two answers', { message: 'a', data: 1 }, {}, [], 'either message or data'],
    [
      'an unknown parameter',
      { message: 'Hi {topik}' },
      {},
      ['message'],
      '{topik} is not a parameter of greet; did you mean {topic}?',
    ],
    ['a name of every object', { message: '{toString}' }, {}, ['message'], '{toString} is not a parameter'],
    [
      'one deep in the data',
      { data: { a: [{ b: '{x}' }] } },
      {},
      ['data', 'a', 0, 'b'],
      '{x} is not a parameter',
    ],
    ['a parameter that may be missing', { message: '{note}' }, {}, ['message'], '{note} may be left out'],
    ['a parameter that is a list', { message: '{list}' }, {}, ['message'], '{list} is a list or a map'],
    ['an open brace', { message: 'a { b' }, {}, ['message'], 'without a "}"'],
    [
      'a sentence for a tool with a shape',
      SENTENCE,
      { outputSchema: strict },
      ['message'],
      'does not fit output_schema',
    ],
    [
      'data of another shape',
      { data: { opens: 9 } },
      { outputSchema: strict },
      ['data', 'opens'],
      'does not fit output_schema',
    ],
    [
      'haste with a tool that writes',
      { ...SENTENCE, after_ms: 5 },
      { metadata: { readOnly: false } },
      ['after_ms'],
      'only a read-only tool',
    ],
    ['haste after the timeout', { ...SENTENCE, after_ms: 1_000 }, {}, ['after_ms'], 'is never reached'],
    [
      'haste without TIMEOUT',
      { ...SENTENCE, after_ms: 5, on: ['TRANSIENT'] },
      {},
      ['after_ms'],
      'ends in TIMEOUT',
    ],
  ])('are refused for %s', (_what, own, changes, path, sentence) => {
    const { faults } = kit(own, changes);
    expect(faults).toMatchObject([{ path, message: expect.stringContaining(sentence) }]);
  });

  it("take the tool's data before the gateway's message", async () => {
    const options = plugin.optionsSchema.parse({ message: 'for all', data: { own: true } });
    const fn = functionOf({ extensions: { fallback: { data: { own: true } } } });
    expect(plugin.check?.(fn, options)).toEqual([]);
    const { extension } = kit(SENTENCE);
    const failed = async (call: ToolCall) => refusalOf(call, new ToolFailure('TIMEOUT', 'Late.'));
    expect(dataOf(await through(extension, callOf({ function: fn }), failed, options))).toEqual({
      own: true,
    });
  });
});
