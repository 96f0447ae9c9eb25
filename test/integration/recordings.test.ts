// Recordings in files, and the source that answers from them: byte for byte, in order, within bounds, through a crash.
import * as fc from 'fast-check';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { ToolResponse } from '../../src/contract/call/tool-response.ts';
import { FileRecordings } from '../../src/infra/recordings/file-recordings.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { functionOf, requestOf } from '../helpers/call-kit.ts';
import {
  openRecordingKit,
  openReplaySource,
  recorded,
  replayed,
  type Tool,
} from '../helpers/recording-kit.ts';

const bytesOf = (response: ToolResponse) =>
  response.ok ? [response.dataJson, JSON.stringify(response.intents)] : [JSON.stringify(response.error)];

/** Records the calls with the tool's answers, and gives the path of the finished file. */
async function record(
  kit: Awaited<ReturnType<typeof openRecordingKit>>,
  calls: readonly (readonly [JsonObject, Tool])[],
  name = 'test',
) {
  await kit.recordings.start(kit.wish({ name }));
  const responses: ToolResponse[] = [];
  for (const [args, tool] of calls) responses.push(await recorded(kit.recordings, kit.call(args), tool));
  await kit.recordings.stop(name);
  return { path: kit.pathOf(name), responses };
}

const anyArguments = fc.dictionary(
  fc.string({ unit: anyCharacter }),
  fc.jsonValue() as fc.Arbitrary<JsonValue>,
);
const anyError = fc.record({
  type: fc.constantFrom('PERMANENT', 'TRANSIENT', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMIT', 'OUTCOME_UNKNOWN'),
  message: fc.string(),
  retryable: fc.boolean(),
  partialSideEffects: fc.option(fc.boolean(), { nil: undefined }),
  retryAfterMs: fc.option(fc.nat(), { nil: undefined }),
});
const anyOutcome: fc.Arbitrary<Tool> = fc.oneof(
  fc
    .record({
      data: fc.jsonValue({ maxDepth: 5 }),
      intents: fc.array(fc.record({ type: fc.string(), x: fc.jsonValue() })),
    })
    .map((result) => () => result as never),
  anyError.map(({ type, message, ...rest }) => () => {
    throw new ToolFailure(type, message, { ...rest, details: { at: message } });
  }),
);

describe('a recording that is replayed', () => {
  it('gives the same bytes for any arguments and any outcome', async () => {
    const kit = await openRecordingKit();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyArguments, anyOutcome), { maxLength: 8 }), async (calls) => {
        const { path, responses } = await record(kit, calls, `run-${(runs += 1)}`);
        const source = await openReplaySource(path);
        for (const [at, [args]] of calls.entries()) {
          const again = await replayed(source, kit.call(args));
          expect(bytesOf(again)).toEqual(bytesOf(responses[at] as ToolResponse));
          expect(again.meta.recorded).toBe(true);
        }
        expect(source.report()).toMatchObject({
          recorded: calls.length,
          answered: calls.length,
          missed: 0,
          notAskedCount: 0,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('keeps what canonical JSON and prototypes make difficult', async () => {
    const kit = await openRecordingKit();
    const data = JSON.parse(
      '{"__proto__":{"a":1},"10":1,"9":2,"é":"\\u2028\\ud800","n":-0,"big":1e21,"e":{}}',
    ) as JsonValue;
    const args = JSON.parse('{"__proto__":{"x":1},"b":1,"a":0.1}') as JsonObject;
    const { path, responses } = await record(kit, [[args, () => ({ data })]]);
    const source = await openReplaySource(path);
    expect(bytesOf(await replayed(source, kit.call(args)))).toEqual(bytesOf(responses[0] as ToolResponse));
    const reordered = JSON.parse('{"a":0.1,"b":1,"__proto__":{"x":1}}') as JsonObject;
    expect((await replayed(source, kit.call(reordered))).ok).toBe(true);
  });

  it('gives equal calls their answers in the order in which they came in, whichever ended first', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    const first = Promise.withResolvers<{ data: JsonValue }>();
    const slow = recorded(kit.recordings, kit.call({}), () => first.promise);
    await recorded(kit.recordings, kit.call({}), () => ({ data: 'second' }));
    first.resolve({ data: 'first' });
    await slow;
    await kit.recordings.stop('test');
    const source = await openReplaySource(kit.pathOf('test'));
    const given = [];
    for (let turn = 0; turn < 3; turn += 1) given.push(await replayed(source, kit.call({})));
    expect(given).toMatchObject(['first', 'second', 'second'].map((data) => ({ data })));
    source.rewind();
    expect(await replayed(source, kit.call({}))).toMatchObject({ data: 'first' });
  });

  it('holds every call that ran, once, with an order of its own, while several recordings go on', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish({ name: 'all' }));
    await kit.recordings.start(kit.wish({ name: 'mine', sessionId: 's1', tenantId: 'acme' }));
    await kit.recordings.start(kit.wish({ name: 'other', tools: ['other*'] }));
    const contexts = [
      { tenantId: 'acme', sessionId: 's1' },
      { tenantId: 'acme' },
      { tenantId: 'umbrella', sessionId: 's1' },
    ];
    await Promise.all(
      contexts.map((context, at) =>
        recorded(kit.recordings, kit.call({ at }, { context }), () => ({ data: at })),
      ),
    );
    const states = await Promise.all(['all', 'mine', 'other'].map((name) => kit.recordings.stop(name)));
    expect(states.map((state) => state?.calls)).toEqual([3, 1, 0]);
    expect((await openReplaySource(kit.pathOf('all'))).report().notAsked.map(({ order }) => order)).toEqual([
      1, 2, 3,
    ]);
  });
});

describe('the bounds of a recording', () => {
  it('ends after max_calls, after its time, and before it is too large', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish({ name: 'few', maxCalls: 2 }));
    await kit.recordings.start(kit.wish({ name: 'short', ttlMs: 1_000 }));
    await kit.recordings.start(kit.wish({ name: 'small', maxBytes: 4_096 }));
    for (let turn = 0; turn < 3; turn += 1)
      await recorded(kit.recordings, kit.call({}), () => ({ data: 'x'.repeat(2_000) }));
    await kit.clock.advance(1_000);
    await kit.recordings.close();
    const states = await kit.recordings.list();
    const ends = Object.fromEntries(
      states.map(({ name, ended, calls, missed }) => [name, [ended, calls, missed]]),
    );
    expect(ends).toEqual({ few: ['max_calls', 2, 0], short: ['ttl', 3, 0], small: ['max_bytes', 1, 1] });
    for (const { name, bytes } of states) {
      expect(statSync(kit.pathOf(name))).toMatchObject({ size: bytes });
      expect(statSync(kit.pathOf(name)).mode & 0o777).toBe(0o600);
      await openReplaySource(kit.pathOf(name));
    }
    expect(statSync(kit.pathOf('small')).size).toBeLessThanOrEqual(4_096);
    expect(statSync(kit.dir).mode & 0o777).toBe(0o700);
  });

  it('counts a call that had not ended as missed', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    const never = Promise.withResolvers<{ data: JsonValue }>();
    const running = recorded(kit.recordings, kit.call({}), () => never.promise);
    expect(await kit.recordings.stop('test')).toMatchObject({ ended: 'stopped', calls: 0, missed: 1 });
    never.resolve({ data: 1 });
    expect(await running).toMatchObject({ ok: true });
    expect(await kit.recordings.list()).toMatchObject([{ calls: 0, missed: 1 }]);
  });

  it('refuses a second one of the same name, and what could need more room than there is', async () => {
    const kit = await openRecordingKit(1 << 20);
    const both = await Promise.allSettled(
      [1, 2].map(() => kit.recordings.start(kit.wish({ maxBytes: 4_096 }))),
    );
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(both[1]).toMatchObject({ reason: { reason: 'RECORDING_EXISTS' } });
    await kit.recordings.stop('test');
    await expect(kit.recordings.start(kit.wish({ maxBytes: 4_096 }))).rejects.toMatchObject({
      reason: 'RECORDING_EXISTS',
    });
    await expect(kit.recordings.start(kit.wish({ name: 'large', maxBytes: 1 << 20 }))).rejects.toMatchObject({
      reason: 'RECORDINGS_FULL',
    });
    expect(await kit.recordings.remove('test')).toBe(true);
    expect(await kit.recordings.remove('test')).toBe(false);
    await kit.recordings.start(kit.wish({ name: 'large', maxBytes: 1 << 20 }));
    await kit.recordings.close();
  });
});

describe('what is recorded of a call', () => {
  it('is the parent alone, where its steps are recorded with it', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    const parent = kit.call({ who: 'parent' });
    const stepOf = (callId: string, args: JsonObject) => {
      const request = requestOf({
        parent: { callId, snapshot: parent.snapshot, depth: 1, budget: { stepsLeft: 9 } },
      });
      return kit.call(args, { request });
    };
    await recorded(kit.recordings, parent, async () => {
      const step = stepOf(parent.id, { who: 'step' });
      await recorded(kit.recordings, step, async () => {
        await recorded(kit.recordings, stepOf(step.id, { who: 'step of a step' }), () => ({ data: 3 }));
        return { data: 2 };
      });
      return { data: 1 };
    });
    await recorded(kit.recordings, stepOf('somebody', { who: 'step of another' }), () => ({ data: 4 }));
    expect(await kit.recordings.stop('test')).toMatchObject({ calls: 2, missed: 0 });
    const text = readFileSync(kit.pathOf('test'), 'utf8');
    expect(text).toContain('"parent"');
    expect(text).toContain('"step of another"');
    expect(text).not.toContain('"step"');
  });

  it('is nothing of a dry run, a caller who left, or a question for approval', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    const failing =
      (type: 'CANCELLED' | 'CONFIRMATION_REQUIRED' | 'UNAVAILABLE' | 'PERMISSION_DENIED', reason: string) =>
      () => {
        throw new ToolFailure(type, 'no', { reason });
      };
    await recorded(kit.recordings, kit.call({}, { context: { dryRun: true } }), () => ({ data: 1 }));
    await recorded(kit.recordings, kit.call({}), failing('CANCELLED', 'CANCELLED'));
    await recorded(kit.recordings, kit.call({}), failing('CONFIRMATION_REQUIRED', 'APPROVAL_REQUIRED'));
    await recorded(kit.recordings, kit.call({}), failing('PERMISSION_DENIED', 'APPROVAL_REJECTED'));
    await recorded(kit.recordings, kit.call({}), failing('UNAVAILABLE', 'DRAINING'));
    await recorded(kit.recordings, kit.call({}), failing('UNAVAILABLE', 'CIRCUIT_OPEN'));
    expect(await kit.recordings.stop('test')).toMatchObject({ calls: 1, missed: 0 });
  });
});

describe('after a crash', () => {
  it.each([
    ['in the middle of a line', (text: string) => `${text}{"order":3,"at":"2026`, 2],
    ['between two lines', (text: string) => text, 2],
    ['before the first line', () => '{"ute_rec', undefined],
  ])('%s, the recording holds what was whole', async (_when, damage, calls) => {
    const kit = await openRecordingKit();
    const { path } = await record(kit, [
      [{ a: 1 }, () => ({ data: 1 })],
      [{ a: 2 }, () => ({ data: 2 })],
    ]);
    const whole = readFileSync(path, 'utf8').replace(/\{"ended".*\n/, '');
    writeFileSync(join(kit.dir, `cut.${process.pid}.part`), damage(whole));
    await FileRecordings.open(kit.dir, { enabled: true, maxTotalBytes: 1 << 30 }, kit);
    const state = (await kit.recordings.list()).find(({ name }) => name === 'cut');
    expect(state?.calls).toBe(calls);
    if (calls === undefined) return;
    expect(state?.ended).toBe('crash');
    expect(await replayed(await openReplaySource(kit.pathOf('cut')), kit.call({ a: 2 }))).toMatchObject({
      ok: true,
      data: 2,
    });
  });

  it('leaves alone what another process is writing', async () => {
    const kit = await openRecordingKit();
    await record(kit, []);
    const part = join(kit.dir, `theirs.${process.ppid}.part`);
    writeFileSync(part, '{"half');
    await FileRecordings.open(kit.dir, { enabled: true, maxTotalBytes: 1 << 30 }, kit);
    expect(readFileSync(part, 'utf8')).toBe('{"half');
    await expect(kit.recordings.start(kit.wish({ name: 'theirs' }))).rejects.toMatchObject({
      reason: 'RECORDING_EXISTS',
    });
  });
});

it('tells when a definition has changed, and refuses where that is wanted', async () => {
  const kit = await openRecordingKit();
  const { path } = await record(kit, [[{ a: 1 }, () => ({ data: 1 })]]);
  const changed = { function: functionOf({ contentHash: 'other' }) };
  const source = await openReplaySource(path);
  expect(await replayed(source, kit.call({ a: 1 }, changed))).toMatchObject({
    ok: true,
    data: 1,
    meta: { degraded: ['definition_changed'] },
  });
  expect(await replayed(source, kit.call({ a: 2 }, changed))).toMatchObject({
    error: { reason: 'NOT_RECORDED', details: { definition_changed: true } },
  });
  expect(source.report().definitionsChanged).toEqual(['greet']);
  const strict = await openReplaySource(path, { onChanged: 'refuse' });
  expect(await replayed(strict, kit.call({ a: 1 }, changed))).toMatchObject({
    error: { reason: 'NOT_RECORDED', details: { definition_changed: true } },
  });
  expect(await replayed(strict, kit.call({ a: 1 }))).toMatchObject({ ok: true });
});
