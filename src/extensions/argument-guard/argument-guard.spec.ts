// argument-guard: what is inside of it sees no finding, and a call that has to be asked about does not run unasked.
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  callOf,
  echoNext,
  functionOf,
  layerFor,
  outcomeOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  specOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject } from '../../contract/json.ts';
import { argumentGuard } from './index.ts';

const optionsOf = (...rules: object[]) => argumentGuard.optionsSchema.parse({ rules });
const MASK = { detect: 'email', action: 'mask' };
const ASK = { words: ['falcon'], name: 'project', action: 'ask' };

function setUp(...rules: object[]) {
  const [log, metrics] = [recordingLog(), recordingMetrics()];
  const extension = argumentGuard.create({ log, metrics });
  const { calls, next } = echoNext();
  const send = (args: JsonObject, changes: Partial<ToolCall> = {}) => {
    const call = callOf({ request: requestOf({ arguments: args }), ...changes });
    return { call, response: outcomeOf(() => through(extension, call, next, optionsOf(...rules)), call) };
  };
  return { log, metrics, extension, ran: calls, send };
}

describe('argument-guard', () => {
  it('is no part of the chain of a tool without rules', () => {
    expect(layerFor(setUp().extension, functionOf(), optionsOf())).toBeUndefined();
  });

  it('passes a call without findings on as it is', async () => {
    const { send, ran, log } = setUp(MASK);
    const { call, response } = send({ note: 'nothing' });
    await response;
    expect(ran[0]).toBe(call);
    expect(log.lines).toEqual([]);
  });

  it('masks, counts and notes, without a word of what was found', async () => {
    const { send, ran, log, metrics } = setUp(MASK);
    const { call, response } = send({ note: 'bob@example.com, ann@example.com', 'eve@example.com': 1 });
    await response;
    expect(ran[0]?.arguments).toEqual({ note: '[email], [email]', '[email]': 1 });
    expect(metrics.values.get('ute_guard_findings_total{greet,arguments,email,mask}')).toBe(3);
    expect(call.progress.notes).toEqual({ found_in_arguments: { email: 3 } });
    expect(log.lines).toMatchObject([{ level: 'info', fields: { found: ['email 3'] } }]);
    expect(JSON.stringify(log.lines)).not.toContain('example');
  });

  it('large arguments are masked as well', async () => {
    const { send, ran } = setUp(MASK);
    const filler = 'x '.repeat(40_000);
    await send({ note: `${filler}bob@example.com` }).response;
    expect(ran[0]?.arguments).toEqual({ note: `${filler}[email]` });
  });

  it('an integer beyond 2^53 that would have to be masked is refused', async () => {
    const { send, ran } = setUp({ patterns: ['^[0-9]{19}$'], action: 'mask' });
    const { response } = send({ n: '4000000000000000000' }, { largeIntegers: ['/n'] });
    expect(await response).toMatchObject({
      error: { reason: 'CONTENT_REFUSED', details: { pointer: '/n' } },
    });
    expect(ran).toEqual([]);
  });

  it('rules that cannot be used keep the tool from being loaded', () => {
    const { extension } = setUp();
    const load = (rule: object) => () => layerFor(extension, functionOf(), optionsOf(rule));
    expect(load({ patterns: ['(?=a)'], action: 'mask' })).toThrow(
      /cannot be used.*"rules",\s*0,\s*"patterns",\s*0/s,
    );
    expect(load({ patterns: ['a*'], action: 'mask' })).toThrow('empty text');
    expect(load({ words: ['words'], action: 'mask' })).toThrow('finds the mask [words]');
  });
});

describe('a rule that asks', () => {
  it('is told to approval at load, and only then', () => {
    const shaped = (rule: object) => argumentGuard.shape?.(specOf(), optionsOf(rule));
    expect(shaped(ASK)).toMatchObject({ mayNeedApproval: true });
    expect(shaped(MASK)).not.toHaveProperty('mayNeedApproval');
  });

  it('lets no call as far as its executor that nobody approved', async () => {
    const { send } = setUp(ASK);
    const { call, response } = send({ note: 'the falcon' });
    await response;
    expect(call.progress.needsApproval).toBe(true);
    await expect(call.progress.beforeExecution?.(call)).rejects.toMatchObject({ reason: 'CONTENT_REFUSED' });
    call.progress.approvedFor = 'c0ffee';
    await expect(call.progress.beforeExecution?.(call)).resolves.toBeUndefined();
  });

  it('refuses a call that was accepted before the rule was there', async () => {
    const { send, ran } = setUp(ASK);
    const resumed = (runs?: string): Partial<ToolCall> => ({
      phase: { kind: 'resume', admitted: admittedOf(runs === undefined ? {} : { runs, approved: true }) },
    });
    const { response } = send({ note: 'falcon' }, resumed());
    expect(await response).toMatchObject({ ok: false, error: { reason: 'CONTENT_REFUSED' } });
    expect(ran).toEqual([]);
    expect(await send({ note: 'falcon' }, resumed('c0ffee')).response).toMatchObject({ ok: true });
  });
});
