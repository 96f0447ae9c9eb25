// replay as a layer: recorded answers as they were, what a miss gets, and a gateway that replays nothing.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  recordingMetrics,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import type {
  AskedCall,
  RecordedCall,
  ReplayRules,
  ReplaySource,
  ReplayAnswer,
} from '../../ports/recordings.ts';
import { replay as plugin } from './index.ts';

const RECORDED: RecordedCall = {
  order: 1,
  at: '2026-01-01T00:00:00.000Z',
  tool: 'greet',
  toolVersion: '1.0.0',
  definitionHash: 'c0ffee',
  arguments: {},
  argumentsHash: '',
  durationMs: 3,
  outcome: {
    ok: true,
    dataJson: '{"b":1,"a":2}',
    intents: [{ type: 'SUPPRESS_AUDIO' }],
    truncated: { pointer: '', kept: 1, omitted: 2 },
  },
};
const MISS = { found: false, recordedTimes: 0, recordedOfTool: 0, definitionChanged: false } as const;

function kit(answer: ReplayAnswer, onMiss: ReplayRules['onMiss'] = 'refuse', tenantId?: string) {
  const asked: AskedCall[] = [];
  const metrics = recordingMetrics();
  const source = {
    rules: { onMiss, onRepeat: 'last', onChanged: 'answer' },
    tenantId,
    seal: (text: string) => `sealed ${text}`,
    ask: (call: AskedCall) => (asked.push(call), answer),
  } as unknown as ReplaySource;
  const extension = plugin.create({ replaySource: source, metrics });
  const inside = echoNext();
  const call = (changes: Parameters<typeof callOf>[0] = {}) => {
    const made = callOf(changes);
    return outcomeOf(() => through(extension, made, inside.next, {}), made);
  };
  return { call, asked, ran: inside.calls, metrics };
}

describe('replay', () => {
  it('answers as it was recorded, marked, without going on', async () => {
    const { call, ran, metrics } = kit({ found: true, call: RECORDED, definitionChanged: false });
    const response = await call();
    expect(response).toMatchObject({
      ok: true,
      dataJson: '{"b":1,"a":2}',
      intents: [{ type: 'SUPPRESS_AUDIO' }],
    });
    expect(response.meta).toMatchObject({
      recorded: true,
      attempts: 0,
      truncated: { omitted: 2 },
      degraded: [],
    });
    expect(ran).toEqual([]);
    expect(metrics.values.get('ute_replayed_calls_total{answered}')).toBe(1);
  });

  it('gives a recorded error as it was, whether or not it could have come from here', async () => {
    const error = {
      type: 'TIMEOUT',
      message: 'late',
      retryable: false,
      partialSideEffects: true,
      origin: 'gateway',
      reason: 'TIMEOUT',
      retryAfterMs: null,
      details: {},
    } as const;
    const { call } = kit({
      found: true,
      call: { ...RECORDED, outcome: { ok: false, error } },
      definitionChanged: false,
    });
    expect(await call()).toMatchObject({ ok: false, error });
  });

  it('refuses what was not recorded: nothing was done, and trying again does not help', async () => {
    const nearest = {
      order: 7,
      changes: [
        { pointer: '/a', recorded: '1', asked: '2' },
        { pointer: '/b', recorded: '3' },
        { pointer: '/c', asked: '4' },
      ],
      more: 2,
    };
    const { call, ran } = kit({ ...MISS, recordedOfTool: 4, nearest }, 'refuse', 'acme');
    const response = await call({ context: { tenantId: 'acme' } });
    expect(response).toMatchObject({
      ok: false,
      error: {
        type: 'NOT_FOUND',
        reason: 'NOT_RECORDED',
        retryable: false,
        partialSideEffects: false,
        details: { tool: 'greet', recorded_of_tool: 4, nearest: { order: 7, more: 2 } },
      },
      meta: { recorded: false },
    });
    expect(!response.ok && response.error.message).toContain(
      'The nearest is call 7: /a was 1, not 2; /b was 3; /c was not there; and 2 more.',
    );
    expect(ran).toEqual([]);
  });

  it.each([
    ['of another tenant', 'umbrella'],
    ['of several tenants', undefined],
  ])('shows nothing of what was recorded in a recording %s', async (_whose, tenantId) => {
    const changes = [{ pointer: '/their-name', recorded: '"their secret"', asked: '2' }];
    const nearest = { order: 7, changes, more: 0 };
    const { call } = kit({ ...MISS, recordedOfTool: 4, nearest }, 'refuse', tenantId);
    const response = await call({ context: { tenantId: 'acme' } });
    expect(response).toMatchObject({ ok: false, error: { reason: 'NOT_RECORDED' } });
    expect(JSON.stringify(response)).not.toMatch(/their|nearest/);
  });

  it.each([
    [{ ...MISS }, 'no call of this tool is in it'],
    [{ ...MISS, recordedTimes: 1, recordedOfTool: 1 }, 'recorded once, and every answer was given already'],
    [{ ...MISS, recordedTimes: 3, recordedOfTool: 3 }, 'recorded 3 times, and'],
    [
      { ...MISS, recordedTimes: 1, recordedOfTool: 1, definitionChanged: true },
      'with another definition of the tool',
    ],
  ] as const)('says why: %o', async (answer, words) => {
    const response = await kit(answer).call();
    expect(!response.ok && response.error.message).toContain(words);
  });

  it('passes a miss on where that is wanted, and marks it', async () => {
    const { call, ran } = kit(MISS, 'call');
    expect(await call({ arguments: { a: 1 } })).toMatchObject({
      ok: true,
      data: { a: 1 },
      meta: { recorded: false },
    });
    expect(ran).toHaveLength(1);
  });

  it('asks with sealed arguments, the cursor and the definition in force', async () => {
    const fn = functionOf({
      inputSchema: { properties: { key: { 'x-ute-sensitive': true } } },
      contentHash: 'beef',
    });
    const { call, asked } = kit(MISS);
    await call({ arguments: { key: 'k' }, function: fn, context: { cursor: '3.abc' } });
    expect(asked).toEqual([
      { tool: 'greet', arguments: { key: 'sealed "k"' }, cursor: '3.abc', definitionHash: 'beef' },
    ]);
  });

  it('lets a dry run say what would be done', async () => {
    const { call, asked, ran } = kit(MISS);
    expect(await call({ context: { dryRun: true } })).toMatchObject({ ok: true });
    expect([asked.length, ran.length]).toEqual([0, 1]);
  });

  it('is in no chain where nothing is replayed', () => {
    const extension = plugin.create({ replaySource: undefined, metrics: recordingMetrics() });
    expect(layerFor(extension, functionOf(), {})).toBeUndefined();
  });
});
