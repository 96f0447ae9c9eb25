// The cache as a layer: what is kept and for whom, equal calls at once, and that its own trouble fails nobody.
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  callOf,
  functionOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import type { ToolResponse, ToolResult } from '../../contract/call/tool-response.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { refusalOf, shortened, successOf } from '../../core/settle.ts';
import { MemoryResultCache } from '../../infra/cache/memory-result-cache.ts';
import type { ResultCache } from '../../ports/result-cache.ts';
import { cache as plugin } from './index.ts';

const SESSION: ToolContext = { tenantId: 'acme', sessionId: 's1' };
const READ_ONLY = { metadata: { readOnly: true } };

function kit(options: JsonObject = {}, changes: Parameters<typeof functionOf>[0] = {}, store?: ResultCache) {
  const clock = new FakeClock();
  const memory = new MemoryResultCache(clock, { maxEntries: 100, maxBytes: 100_000 });
  const metrics = recordingMetrics();
  const own = { ttl_ms: 1_000, ...options };
  const fn = functionOf({ ...READ_ONLY, extensions: { cache: own }, ...changes });
  const merged = plugin.optionsSchema.parse(own);
  const extension = plugin.create({ resultCache: store ?? memory, clock, log: recordingLog(), metrics });
  let ids = 0;
  let runs = 0;
  const make = (given: Partial<ToolCall> & { readonly args?: JsonObject } = {}) => {
    ids += 1;
    const now = clock.now();
    return callOf({
      id: `call-${ids}`,
      function: fn,
      context: SESSION,
      config: fn.configDefaults,
      arguments: given.args ?? { day: 'monday' },
      receivedAt: now,
      deadline: now + 10_000,
      ...given,
    });
  };
  // Each prepared once, as at load.
  const layers = new Map<ToolFunction, ReturnType<typeof layerFor>>();
  const around = (call: ToolCall, tool: (call: ToolCall) => Promise<ToolResult> | ToolResult) => {
    const run = async (inner: ToolCall) => {
      runs += 1;
      inner.progress.attempts += 1;
      inner.progress.executorEntered = true;
      try {
        return successOf(inner, await tool(inner), 1 << 20);
      } catch (error) {
        return refusalOf(inner, error);
      }
    };
    const of = call.function ?? fn;
    if (!layers.has(of)) layers.set(of, layerFor(extension, of, merged));
    return layers.get(of)?.(call, run) ?? run(call);
  };
  return {
    clock,
    memory,
    extension,
    merged,
    fn,
    make,
    around,
    runs: () => runs,
    count: (result: string) => metrics.values.get(`ute_cache_requests_total{greet,${result}}`) ?? 0,
  };
}

const answer = (data: JsonValue) => () => ({ data });
const fail = (failure: ToolFailure) => () => Promise.reject(failure);
const dataOf = (response: ToolResponse) => (response.ok ? response.data : response.error.type);

/** A tool that answers when told to. */
function held() {
  let release: (data: JsonValue) => void = () => undefined;
  const tool = () => new Promise<ToolResult>((resolve) => (release = (data) => resolve({ data })));
  return { tool, release: (data: JsonValue) => release(data) };
}

describe('cache', () => {
  it('gives an answer again until its time is over, marked, without an attempt', async () => {
    const { around, make, clock, count, runs } = kit();
    const first = await around(make(), answer({ opens: 9 }));
    expect(first).toMatchObject({ ok: true, meta: { cached: false, attempts: 1 } });
    const second = await around(make(), answer('other'));
    expect(second).toMatchObject({ data: { opens: 9 }, dataJson: '{"opens":9}', intents: [] });
    expect(second.meta).toMatchObject({ callId: 'call-2', cached: true, attempts: 0, degraded: [] });
    await clock.advance(1_000);
    expect(dataOf(await around(make(), answer('new')))).toBe('new');
    expect([runs(), count('hit'), count('miss')]).toEqual([2, 1, 2]);
  });

  it('gives each caller data of its own', async () => {
    const { around, make } = kit();
    await around(make(), answer({ list: [1] }));
    const one = await around(make(), answer(null));
    ((one.ok && one.data) as unknown as { list: number[] }).list.push(2);
    expect(dataOf(await around(make(), answer(null)))).toEqual({ list: [1] });
  });

  it.each<[string, Partial<ToolCall>]>([
    ['another tenant', { context: { ...SESSION, tenantId: 'umbrella' } }],
    ['another session', { context: { ...SESSION, sessionId: 's2' } }],
    ['another user in the same session', { context: { ...SESSION, userId: 'u2' } }],
    ['another mode', { context: { ...SESSION, mode: 'voice' } }],
    ['another agent configuration', { config: { calendar: 'home' } }],
    ['other agent credentials', { sensitiveConfig: { token: 'x' } }],
  ])('does not give an answer to %s', async (_who, changes) => {
    const { around, make } = kit();
    await around(make(), answer('mine'));
    expect(dataOf(await around(make(changes), answer('theirs')))).toBe('theirs');
  });

  it.each<[string, ToolContext]>([
    ['without a session', { tenantId: 'acme' }],
    ['in a dry run', { ...SESSION, dryRun: true }],
    ['with a cursor', { ...SESSION, cursor: '5.abc' }],
    ['with a confirmation token', { ...SESSION, confirmationToken: 'token' }],
  ])('neither keeps nor gives an answer %s', async (_how, context) => {
    const { around, make, runs, count, memory } = kit();
    await around(make({ context }), answer(1));
    await around(make({ context }), answer(1));
    expect([runs(), count('bypass'), memory.size.entries]).toEqual([2, 2, 0]);
  });

  it('keeps no failure, and no answer with an intent, a cut list, too many bytes or a wrong shape', async () => {
    const { around, make, memory, extension, merged } = kit(
      { max_result_bytes: 64 },
      { outputSchema: { type: ['string', 'array'] } },
    );
    await around(make(), fail(new ToolFailure('PERMANENT', 'No.', { origin: 'tool' })));
    await around(make(), () => ({ data: 'bye', intents: [{ type: 'END_VOICE_SESSION' }] }));
    await around(make(), answer('x'.repeat(64)));
    await around(make(), answer(7));
    const cut = async (call: ToolCall) =>
      shortened(successOf(call, { data: [1, 2] }, 99), [1], { pointer: '', kept: 1, omitted: 1 });
    await through(extension, make(), cut, merged);
    expect(memory.size.entries).toBe(0);
    await around(make(), answer('fits'));
    expect(memory.size.entries).toBe(1);
  });

  it('keeps an answer by a schema that is too large for the event loop, where it fits it', async () => {
    const anyOf = Array.from({ length: 200 }, (_, at) => ({ const: `word ${at}` }));
    const { around, make, memory, extension } = kit({}, { outputSchema: { anyOf } });
    onTestFinished(async () => extension.close?.());
    await around(make(), answer('no word'));
    expect(memory.size.entries).toBe(0);
    await around(make(), answer('word 199'));
    expect(memory.size.entries).toBe(1);
  });

  it('answers with an older answer where it may and the tool is unwell', async () => {
    const { around, make, clock, count } = kit({ stale_if_error_ms: 5_000 });
    await around(make(), answer('old'));
    await clock.advance(1_500);
    const stale = await around(make(), fail(new ToolFailure('UNAVAILABLE', 'Down.')));
    expect(stale).toMatchObject({
      ok: true,
      data: 'old',
      meta: { cached: true, degraded: ['stale'], attempts: 1 },
    });
    expect(dataOf(await around(make(), fail(new ToolFailure('PERMANENT', 'No.'))))).toBe('PERMANENT');
    expect(dataOf(await around(make(), answer('new')))).toBe('new');
    expect(count('stale')).toBe(1);
    await clock.advance(6_000);
    expect(dataOf(await around(make(), fail(new ToolFailure('TIMEOUT', 'Late.'))))).toBe('TIMEOUT');
  });
});

describe('equal calls at once', () => {
  it('are one run: a hundred get the answer of the first', async () => {
    const { around, make, runs, count } = kit();
    const { tool, release } = held();
    const calls = Array.from({ length: 100 }, () => around(make(), tool));
    await settled();
    expect(runs()).toBe(1);
    release('one');
    const responses = await Promise.all(calls);
    expect(responses.map(dataOf)).toEqual(Array.from({ length: 100 }, () => 'one'));
    expect(responses.filter(({ meta }) => meta.cached)).toHaveLength(99);
    expect([runs(), count('shared'), count('miss')]).toEqual([1, 99, 1]);
  });

  it('hand the run to another when the first fails', async () => {
    const { around, make, runs } = kit();
    let turn = 0;
    const tool = async () => {
      turn += 1;
      if (turn === 1) throw new ToolFailure('TRANSIENT', 'Once.', { origin: 'tool' });
      return { data: 'second' };
    };
    const responses = await Promise.all([1, 2, 3].map(() => around(make(), tool)));
    expect(responses.map(dataOf)).toEqual(['TRANSIENT', 'second', 'second']);
    expect(runs()).toBe(2);
  });

  it('hand the run to another when the first is cancelled', async () => {
    const { around, make, runs } = kit();
    const gone = new AbortController();
    const first = around(make({ signal: gone.signal }), ({ signal }) => {
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    const second = around(make(), answer('mine'));
    await settled();
    gone.abort(new ToolFailure('CANCELLED', 'Gone.'));
    expect([dataOf(await first), dataOf(await second), runs()]).toEqual(['CANCELLED', 'mine', 2]);
  });

  it('do not keep one that is aborted while it waits', async () => {
    const { around, make } = kit();
    const gone = new AbortController();
    const { tool, release } = held();
    const first = around(make(), tool);
    const second = around(make({ signal: gone.signal }), ({ signal }) =>
      Promise.reject(signal.reason as Error),
    );
    await settled();
    gone.abort(new ToolFailure('TIMEOUT', 'Too late.'));
    expect(dataOf(await second)).toBe('TIMEOUT');
    release('done');
    expect(dataOf(await first)).toBe('done');
  });

  it('each run by themselves where the answer is the first one’s alone', async () => {
    const { around, make, runs } = kit();
    const tool = async () => ({ data: 'bye', intents: [{ type: 'END_VOICE_SESSION' }] });
    const responses = await Promise.all([1, 2, 3].map(() => around(make(), tool)));
    expect(responses.map((each) => each.ok && each.intents.length)).toEqual([1, 1, 1]);
    expect(runs()).toBe(3);
  });

  it('do not wait for the call that they are steps of', async () => {
    const { around, make, runs } = kit();
    const parent = { callId: 'call-1', snapshot: make().snapshot, depth: 1, budget: { stepsLeft: 9 } };
    const step = () => around(make({ request: requestOf({ parent }) }), answer('inner'));
    const outer = await around(make(), async () => ({ data: { inner: dataOf(await step()) } }));
    expect(dataOf(outer)).toEqual({ inner: 'inner' });
    expect(runs()).toBe(2);
  });
});

describe('an answer that calls of other tools made', () => {
  const stepped = (data: JsonValue) => (call: ToolCall) => {
    call.progress.calledOthers = true;
    return { data };
  };
  const ann: Principal = {
    id: 'k1',
    tenantId: 'acme',
    agents: ['*'],
    roles: ['agent'],
    permissions: new Set(['a:read']),
  };

  it.each(['session', 'tenant', 'global'])(
    'is given again to the same caller alone, of the scope %s too',
    async (scope) => {
      const { around, make } = kit({ scope });
      const ask = async (principal: Principal, data: JsonValue, context = SESSION) =>
        dataOf(await around(make({ principal, context }), stepped(data)));
      // What the first one showed: others run it, and it is kept for each of them.
      expect(await ask(ann, 0)).toBe(0);
      expect([await ask(ann, 1), await ask(ann, 2)]).toEqual([1, 1]);
      const others: readonly Principal[] = [
        { ...ann, id: 'k2' },
        { ...ann, roles: ['other'] },
        { ...ann, permissions: new Set() },
      ];
      for (const [place, other] of others.entries()) expect(await ask(other, 10 + place)).toBe(10 + place);
      const contexts = [{ sessionId: 's2' }, { agentId: 'a2' }, { userId: 'u2' }, { tenantId: 'umbrella' }];
      for (const [place, context] of contexts.entries())
        expect(await ask(ann, 20 + place, { ...SESSION, ...context })).toBe(20 + place);
      expect(await ask(ann, 3)).toBe(1);
    },
  );

  it('is given to nobody who waited for it', async () => {
    const { around, make, runs } = kit({ scope: 'tenant' });
    const responses = await Promise.all(
      ['s1', 's2', 's3'].map((sessionId) =>
        around(make({ context: { ...SESSION, sessionId } }), async (call) => stepped(sessionId)(call)),
      ),
    );
    expect(responses.map(dataOf)).toEqual(['s1', 's2', 's3']);
    expect(runs()).toBe(3);
  });
});

describe('a store that is shared with other replicas', () => {
  it('is asked again until the other replica has the answer', async () => {
    const { around, make, memory, clock, runs, count } = kit();
    const [leader, follower] = [make(), make()];
    const elsewhere = kit({}, {}, memory);
    const { tool, release } = held();
    const theirs = elsewhere.around(leader, tool);
    const ours = around(follower, answer('second run'));
    await clock.advance(50);
    release('first run');
    await clock.advance(200);
    expect([dataOf(await theirs), dataOf(await ours)]).toEqual(['first run', 'first run']);
    expect([elsewhere.runs(), runs(), count('shared')]).toEqual([1, 0, 1]);
  });

  it('is not waited for without end: the call runs the tool by itself', async () => {
    const { around, make, memory, clock, runs } = kit();
    const elsewhere = kit({}, {}, memory);
    const dead = elsewhere.around(make(), () => new Promise(() => undefined));
    const ours = around(make(), answer('mine'));
    await clock.advance(2_100);
    expect([dataOf(await ours), runs()]).toEqual(['mine', 1]);
    expect(dead).toBeInstanceOf(Promise);
  });

  it('fails no call when it is away, and says so', async () => {
    const away = () => Promise.reject(new Error('no Redis'));
    const { around, make, count } = kit({}, {}, { look: away, keep: away, release: away });
    const { tool, release } = held();
    const calls = [around(make(), tool), around(make(), tool)];
    await settled();
    release(1);
    const [first, second] = await Promise.all(calls);
    expect(first).toMatchObject({ ok: true, data: 1, meta: { cached: false, degraded: ['cache'] } });
    expect(second).toMatchObject({ ok: true, data: 1, meta: { cached: true } });
    expect(count('error')).toBe(1);
  });

  it.each([
    ['nothing', ''],
    ['null', 'null'],
    ['half an entry', '{"v":1,"data":'],
    ['an entry of another version', '{"v":2,"data":1}'],
    ['one brace too many', '{"v":1,"data":1}}'],
    ['a second member', '{"v":1,"data":1,"data":2}'],
    ['a pit of brackets', `{"v":1,"data":${'['.repeat(200_000)}}`],
  ])('is not believed when it holds %s', async (_what, value) => {
    const { memory, around, make, runs } = kit();
    const liar: ResultCache = {
      look: async () => ({ value, fresh: true, lead: false }),
      keep: (...all) => memory.keep(...all),
      release: (...all) => memory.release(...all),
    };
    const { around: lied } = kit({}, {}, liar);
    expect(dataOf(await lied(make(), answer('true')))).toBe('true');
    expect(dataOf(await around(make(), answer('other')))).toBe('true');
    expect(runs()).toBe(0);
  });
});

describe('options of the cache', () => {
  function faults(own: JsonObject, metadata: Partial<ToolSpec['metadata']>) {
    const fn = functionOf({ metadata, extensions: { cache: own } });
    return plugin.check?.(fn, plugin.optionsSchema.parse(own)) ?? [];
  }

  it.each<[string, JsonObject, Partial<ToolSpec['metadata']>, string]>([
    ['a tool that writes', { ttl_ms: 5 }, {}, 'only a read-only tool is cached'],
    [
      'a tool that needs approval',
      { ttl_ms: 5 },
      { readOnly: true, requiresApproval: true },
      'waits for approval',
    ],
    ['no time', {}, { readOnly: true }, 'ttl_ms is required'],
  ])('are refused for %s', (_what, own, metadata, sentence) => {
    expect(faults(own, metadata)).toMatchObject([{ path: [], message: expect.stringContaining(sentence) }]);
  });

  it('are good for a read-only tool', () => {
    expect(faults({ ttl_ms: 5 }, { readOnly: true })).toEqual([]);
  });

  it('cache nothing of a tool that does not ask for it', () => {
    const { extension, merged } = kit();
    expect(layerFor(extension, functionOf(READ_ONLY), merged)).toBeUndefined();
    expect(
      layerFor(extension, functionOf({ ...READ_ONLY, extensions: { cache: {} } }), merged),
    ).toBeDefined();
  });
});
