import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import {
  callOf,
  echoNext,
  functionOf,
  layerFor,
  outcomeOf,
  principalOf,
  requestOf,
  through,
  compiledOf,
  admittedOf,
} from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf } from '../../core/settle.ts';
import type { AuditRecord, AuditSink } from '../../ports/audit-sink.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { audit } from './index.ts';

function sinkOf(changes: Partial<AuditSink> = {}) {
  const records: AuditRecord[] = [];
  const how: string[] = [];
  const keep = (way: string) => (record: AuditRecord) => {
    how.push(way);
    records.push(record);
    return Promise.resolve();
  };
  const sink: AuditSink = {
    readOnlyMode: 'durable',
    ready: () => undefined,
    intend: keep('intend'),
    write: keep('write'),
    writeMade: (make) => keep('write')(make()).then(() => undefined),
    offer: (make) => void keep('offer')(make()),
    omit: (tenant) => void how.push(`omit ${tenant}`),
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
    ...changes,
  };
  return { sink, records, how };
}

const clock = new FakeClock();
const options = (said: object = {}) => audit.optionsSchema.parse(said);
const extensionOf = (auditSink: AuditSink) => audit.create({ auditSink, clock });
const unavailable = () => {
  throw new ToolFailure('UNAVAILABLE', 'disk full', { reason: 'AUDIT_UNAVAILABLE' });
};

/** A call for a function that the snapshot knows, as every call is for which the mode matters. */
function callFor(fn: ToolFunction, changes: Partial<ToolCall> = {}): ToolCall {
  return callOf({ function: fn, snapshot: snapshotOf([fn.spec], [compiledOf(fn)]), ...changes });
}

/** The core's part: what audit asked for is done just before the executor. */
function coreNext() {
  const { calls, next } = echoNext();
  return {
    calls,
    next: async (call: ToolCall) => {
      await call.progress.beforeExecution?.(call);
      return next(call);
    },
  };
}

const READER = functionOf({ metadata: { readOnly: true } });
const WRITER = functionOf({ metadata: { readOnly: false } });

describe('audit', () => {
  it('records who called what with which arguments, and how it ended; the arguments themselves are not kept', async () => {
    const { sink, records } = sinkOf();
    const call = callFor(READER, { request: requestOf({ arguments: { password: 'hunter2' } }) });
    call.progress.caller = { principal: principalOf(), context: { tenantId: 'acme', agentId: 'desk' } };
    await through(extensionOf(sink), call, echoNext().next, options());
    expect(records).toMatchObject([
      {
        kind: 'outcome',
        callId: 'call-1',
        callKind: 'sync',
        principal: 'key00001',
        tenant: 'acme',
        agent: 'desk',
        tool: 'greet',
        readOnly: true,
        outcome: 'ok',
      },
    ]);
    expect(records[0]?.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(records)).not.toContain('hunter2');
  });

  it.each([
    ['that began here and that nobody keeps', { traceKept: false }, undefined, true, ''],
    ['of a call that failed, which is kept after all', { traceKept: false }, undefined, false, 'abc'],
    ['that the caller named, kept or not', { traceKept: false }, '00-abc-01-00', true, 'abc'],
    ['that is kept', { traceKept: true }, undefined, true, 'abc'],
    [
      'of a call that made others, one of which may have failed',
      { traceKept: false, calledOthers: true },
      undefined,
      true,
      'abc',
    ],
    ['of a caller, where no traces are sent', {}, '00-abc-01-01', true, 'abc'],
  ])('a record names the trace %s: %o', async (_which, kept, traceparent, succeeds, named) => {
    const { sink, records } = sinkOf();
    const context = traceparent === undefined ? {} : { traceparent };
    const call = callFor(READER, { request: requestOf({ context }) });
    Object.assign(call.progress, kept, { traceId: 'abc' });
    const failing = () => outcomeOf(() => Promise.reject(new ToolFailure('TIMEOUT', 'late')), call);
    await through(extensionOf(sink), call, succeeds ? echoNext().next : failing, options());
    expect(records.map(({ traceId }) => traceId)).toEqual([named]);
  });

  it('a record of a call that runs later names its trace, which is kept where the call fails then', async () => {
    const { sink, records } = sinkOf();
    const call = callFor(READER, { phase: { kind: 'admit' } });
    Object.assign(call.progress, { traceKept: false, traceId: 'abc' });
    await through(extensionOf(sink), call, echoNext().next, options());
    expect(records.map(({ kind, traceId }) => [kind, traceId])).toEqual([['accepted', 'abc']]);
  });

  it('a refusal leaves a record too, with its reason', async () => {
    const { sink, records, how } = sinkOf();
    const call = callOf();
    const refusing = () =>
      outcomeOf(() => Promise.reject(new ToolFailure('AUTH', 'no', { reason: 'CREDENTIAL_MISSING' })), call);
    await through(extensionOf(sink), call, refusing, options());
    expect(records).toMatchObject([{ kind: 'outcome', outcome: 'AUTH', reason: 'CREDENTIAL_MISSING' }]);
    expect(how).toEqual(['write']);
  });

  it('so many calls a second of credentials that are not valid are recorded, the others omitted, and no others', async () => {
    const now = new FakeClock();
    const { sink, how } = sinkOf();
    const layer = layerFor(
      audit.create({ auditSink: sink, clock: now }),
      READER,
      options({ refused_credentials_per_second: 2 }),
    )!;
    const run = (
      reason: 'CREDENTIAL_INVALID' | 'CREDENTIAL_EXPIRED' | 'AGENT_MISMATCH',
      isKnown: boolean,
    ) => {
      const call = callFor(READER);
      if (isKnown) call.progress.caller = { principal: principalOf(), context: { tenantId: 'acme' } };
      return layer(call, async (inside) => refusalOf(inside, toolFailure(reason, 'no')));
    };
    for (let each = 0; each < 3; each += 1) await run('CREDENTIAL_INVALID', false);
    await run('CREDENTIAL_EXPIRED', true);
    await run('AGENT_MISMATCH', true);
    expect(how).toEqual(['write', 'write', 'omit ', 'omit acme', 'write']);
    await now.advance(1_000);
    await run('CREDENTIAL_INVALID', false);
    expect(how.at(-1)).toBe('write');
  });

  it('each refusal of an accepted call whose key was revoked is on record, whatever strangers take of the quota', async () => {
    const { sink, how } = sinkOf();
    const layer = layerFor(extensionOf(sink), READER, options({ refused_credentials_per_second: 1 }))!;
    const refuse = (changes: Partial<ToolCall>, reason: 'CREDENTIAL_INVALID' | 'CREDENTIAL_REVOKED') =>
      layer(callFor(READER, changes), async (inside) => refusalOf(inside, toolFailure(reason, 'no')));
    for (let each = 0; each < 2; each += 1) await refuse({}, 'CREDENTIAL_INVALID');
    const phase = { kind: 'resume', admitted: admittedOf() } as const;
    for (let each = 0; each < 2; each += 1) await refuse({ phase }, 'CREDENTIAL_REVOKED');
    expect(how).toEqual(['write', 'omit ', 'write', 'write']);
  });

  it('a tool that changes something has its intent committed before it runs, a reader only its outcome', async () => {
    const [writing, reading] = [sinkOf(), sinkOf()];
    await through(extensionOf(writing.sink), callFor(WRITER), coreNext().next, options());
    await through(extensionOf(reading.sink), callFor(READER), coreNext().next, options());
    expect(writing.how).toEqual(['intend', 'write']);
    expect(reading.how).toEqual(['write']);
    expect(writing.records[0]).toMatchObject({
      kind: 'intent',
      callId: 'call-1',
      tool: 'greet',
      outcome: '',
    });
    expect(new Set(writing.records.map(({ eventId }) => eventId)).size).toBe(2);
  });

  it('the intent of a call that holds a slot says by which fencing token: whoever dies with the slot leaves no outcome', async () => {
    const { sink, records } = sinkOf();
    const call = callFor(WRITER);
    call.progress.fencingToken = '17';
    await through(extensionOf(sink), call, coreNext().next, options());
    expect(records.map(({ kind, notes }) => [kind, notes])).toEqual([
      ['intent', { fencing_token: '17' }],
      ['outcome', undefined],
    ]);
  });

  it.each([
    ['the gateway says so', READER, { mode: 'strict' }, ['intend', 'write']],
    ['the tool says so', functionOf({ extensions: { audit: { mode: 'durable' } } }), {}, ['write']],
    [
      'the tool says so, whatever the gateway says',
      functionOf({ extensions: { audit: { mode: 'best_effort' } } }),
      { mode: 'strict' },
      ['offer'],
    ],
  ])('another mode where %s', async (_why, fn, said, expected) => {
    const { sink, how } = sinkOf();
    await through(extensionOf(sink), callFor(fn), coreNext().next, options(said));
    expect(how).toEqual(expected);
  });

  it('what a call leaves to be done before its executor holds nothing of the call', async () => {
    const layer = layerFor(extensionOf(sinkOf().sink), READER, options())!;
    const calls = [callFor(READER), callFor(READER)];
    for (const call of calls) await layer(call, coreNext().next);
    // One function for all calls, and no closure of each: that would keep its answer for as long as its progress.
    const [first, second] = calls.map(({ progress }) => progress.beforeExecution);
    expect(first).toBeTypeOf('function');
    expect(second).toBe(first);
  });

  it('nothing runs whose intent cannot be committed', async () => {
    const { sink, records } = sinkOf({ intend: async () => unavailable() });
    const { calls, next } = coreNext();
    const call = callFor(WRITER);
    await through(extensionOf(sink), call, (inner) => outcomeOf(() => next(inner), inner), options());
    expect(calls).toEqual([]);
    expect(records).toMatchObject([{ kind: 'outcome', outcome: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' }]);
  });

  it('nothing runs that cannot be recorded', async () => {
    const { sink } = sinkOf({ ready: unavailable });
    const { calls, next } = echoNext();
    const call = callOf();
    expect(
      await outcomeOf(async () => through(extensionOf(sink), call, next, options()), call),
    ).toMatchObject({
      ok: false,
      error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE', partialSideEffects: false },
    });
    expect(calls).toHaveLength(0);
  });

  it('an answer whose record was lost is not given as a success', async () => {
    const { sink } = sinkOf({ writeMade: async () => unavailable() });
    const call = callOf();
    expect(
      await outcomeOf(async () => through(extensionOf(sink), call, echoNext().next, options()), call),
    ).toMatchObject({
      ok: false,
      error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE', retryable: false, partialSideEffects: true },
    });
  });

  it('an answer whose record alone of its group could not be made is not given as a success, and the others are', async () => {
    const makers: (() => AuditRecord)[] = [];
    const { promise, resolve } = Promise.withResolvers<ReadonlyMap<() => AuditRecord, unknown>>();
    const writeMade = (make: () => AuditRecord) => {
      makers.push(make);
      return promise;
    };
    const extension = extensionOf(sinkOf({ writeMade }).sink);
    const answers = [callOf(), callOf()].map((call) =>
      outcomeOf(async () => through(extension, call, echoNext().next, options()), call),
    );
    await settled();
    resolve(new Map(makers.slice(0, 1).map((make) => [make, new Error('no record of this')])));
    expect(await Promise.all(answers)).toMatchObject([
      { ok: false, error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE', retryable: false } },
      { ok: true },
    ]);
  });

  it('a record whose arguments take long to hash is made at once, alone: others of its group would wait for it', async () => {
    const made: string[] = [];
    const writeMade = async () => void made.push('together');
    const write = async () => void made.push('alone');
    const extension = extensionOf(sinkOf({ writeMade, write }).sink);
    for (const text of ['short', 'long'.repeat(1_000)])
      await through(
        extension,
        callOf({ request: requestOf({ arguments: { text } }) }),
        echoNext().next,
        options(),
      );
    expect(made).toEqual(['together', 'alone']);
  });

  it('best effort asks nobody and waits for nobody', async () => {
    const { sink, how } = sinkOf({ ready: unavailable });
    const response = await through(
      extensionOf(sink),
      callFor(READER),
      coreNext().next,
      options({ mode: 'best_effort' }),
    );
    expect(response.ok).toBe(true);
    expect(how).toEqual(['offer']);
  });

  it('a call that runs later is nobody’s row here: it is made and ended by those who run it', async () => {
    const { sink, records } = sinkOf();
    await through(
      extensionOf(sink),
      callFor(WRITER, { phase: { kind: 'resume', admitted: admittedOf() } }),
      coreNext().next,
      options(),
    );
    await through(
      extensionOf(sink),
      callFor(READER, { phase: { kind: 'admit' } }),
      echoNext().next,
      options(),
    );
    expect(records.map(({ kind, callKind }) => `${kind}:${callKind}`)).toEqual([
      'intent:',
      'outcome:',
      'accepted:',
    ]);
  });

  it('a step says whose step it is', async () => {
    const { sink, records } = sinkOf();
    const parent = { callId: 'parent-1', snapshot: snapshotOf([], []), depth: 1, budget: { stepsLeft: 1 } };
    await through(extensionOf(sink), callOf({ request: requestOf({ parent }) }), echoNext().next, options());
    expect(records[0]?.notes).toEqual({ parent_call_id: 'parent-1' });
  });
});
