// policy: the first rule that is true decides; nothing else than true is true, and what cannot be decided is refused.
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  callOf,
  echoNext,
  functionOf,
  layerFor,
  outcomeOf,
  principalOf,
  recordingLog,
  recordingMetrics,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { policy } from './index.ts';
import { policyOptionsSchema } from './options.ts';
import { faultsOfPolicy } from './tool-policy.ts';

const inputSchema = {
  type: 'object',
  properties: { amount: { type: 'integer' }, any: {} },
  additionalProperties: false,
};
const fn = functionOf({ name: 'pay', inputSchema, metadata: { category: 'action' } });
const approvable = functionOf({ name: 'pay', inputSchema, mayNeedApproval: true });

function setUp() {
  const clock = new FakeClock(1_000);
  const log = recordingLog();
  const metrics = recordingMetrics();
  return { clock, log, metrics, extension: policy.create({ clock, log, metrics }) };
}

async function decide(rules: readonly object[], changes: Partial<ToolCall> = {}) {
  const options = policyOptionsSchema.parse({ rules });
  const { extension, ...seen } = setUp();
  const { calls, next } = echoNext();
  const call = callOf({ function: fn, arguments: { amount: 5 }, ...changes });
  const response = await outcomeOf(async () => through(extension, call, next, options), call);
  return { ...seen, call, response, ran: calls.length > 0 };
}

const deny = (name: string, when: string, more: object = {}) => ({ name, when, decision: 'deny', ...more });

describe('policy', () => {
  it('a tool that no rule is for has no such step', () => {
    const { extension } = setUp();
    const options = (rules: object[]) => policyOptionsSchema.parse({ rules });
    expect(layerFor(extension, fn, options([]))).toBeUndefined();
    expect(layerFor(extension, fn, options([deny('a', 'true', { tools: ['play', 'p?'] })]))).toBeUndefined();
    expect(
      layerFor(extension, fn, options([deny('a', 'true', { categories: ['retrieval'] })])),
    ).toBeUndefined();
    expect(layerFor(extension, fn, options([deny('a', 'true', { tools: ['p*'] })]))).toBeDefined();
  });

  it('lists hide a tool from a tenant whose every call is refused, and from no other', () => {
    const { extension } = setUp();
    const always = deny('a', 'true', { tenants: ['umbrella'] });
    const sometimes = deny('b', 'args.amount > 5');
    const cap = { name: 'c', decision: 'cap', timeout_ms: 5, tenants: ['umbrella'] };
    const hidden = (rules: object[]) => {
      const shown =
        extension.stage === 'tool'
          ? extension.shownTo?.(fn, policyOptionsSchema.parse({ rules }))
          : undefined;
      return ['acme', 'umbrella'].filter(
        (tenantId) => shown?.({ principal: principalOf({ tenantId }) }) === false,
      );
    };
    expect(hidden([always])).toEqual(['umbrella']);
    expect(hidden([sometimes, always])).toEqual(['umbrella']);
    expect(hidden([cap, always])).toEqual([]);
    expect(hidden([{ name: 'd', when: 'args.amount < 5', decision: 'allow' }, always])).toEqual([]);
    expect(hidden([sometimes])).toEqual([]);
    expect(hidden([deny('e', 'true')])).toEqual(['acme', 'umbrella']);
  });

  it('a rule that the calls of a canary would get round is refused', () => {
    const { extension } = setUp();
    const tried = functionOf({
      name: 'pay',
      inputSchema,
      canary: { tool: 'pay_v2', percent: 5, by: 'tenant' },
    });
    const options = (tools: string[]) => policyOptionsSchema.parse({ rules: [deny('a', 'true', { tools })] });
    expect(() => layerFor(extension, tried, options(['pay']))).toThrow(
      'the policy rule "a" is for pay and not for pay_v2, its canary: let tools match both',
    );
    expect(layerFor(extension, tried, options(['pay', 'pay_v2']))).toBeDefined();
    expect(layerFor(extension, tried, options(['pay*']))).toBeDefined();
    expect(layerFor(extension, tried, options(['pay_v2']))).toBeUndefined();
  });

  it('the first rule that is true decides', async () => {
    const allow = { name: 'small', when: 'args.amount < 10', decision: 'allow' };
    expect((await decide([allow, deny('all', 'true')])).ran).toBe(true);
    const { response, ran } = await decide([deny('all', 'true'), allow]);
    expect(ran).toBe(false);
    expect(response).toMatchObject({
      error: { type: 'PERMISSION_DENIED', reason: 'POLICY_DENIED', details: { rule: 'all' } },
    });
    expect((await decide([deny('large', 'args.amount > 10')])).ran).toBe(true);
  });

  it('a rule for other tenants is not asked, whatever it would say', async () => {
    const rule = deny('theirs', 'args.any', { tenants: ['umbrella'] });
    expect((await decide([rule])).ran).toBe(true);
    expect((await decide([rule], { principal: principalOf({ tenantId: 'umbrella' }) })).ran).toBe(false);
  });

  it.each([
    ['a text', 'yes'],
    ['a number', 1],
    ['null', null],
    ['a list', [true]],
    ['an object', { ok: true }],
  ])('%s is not true: the call is refused, counted and logged', async (_what, any) => {
    const rules = [{ name: 'odd', when: 'args.any', decision: 'allow' }];
    const { response, ran, metrics, log, call } = await decide(rules, { arguments: { any } });
    expect(ran).toBe(false);
    expect(response).toMatchObject({ error: { type: 'PERMISSION_DENIED', reason: 'POLICY_FAILED' } });
    expect(metrics.values.get('ute_policy_decisions_total{odd,error}')).toBe(1);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { rule: 'odd', tool: 'pay' } }]);
    expect(call.progress.notes).toEqual({ policy_rule: 'odd', policy_decision: 'error' });
  });

  it('a rule that fails on a missing argument refuses, also where a later one would allow', async () => {
    const rules = [deny('first', 'args.any == 1'), { name: 'then', decision: 'allow' }];
    expect((await decide(rules)).response).toMatchObject({ error: { reason: 'POLICY_FAILED' } });
  });

  it('asks for approval where there is a step that gets it, and refuses where there is none', async () => {
    const rules = [{ name: 'ask', decision: 'require_approval' }];
    const asked = await decide(rules, { function: approvable });
    expect([asked.ran, asked.call.progress.needsApproval]).toEqual([true, true]);
    expect(await decide(rules)).toMatchObject({ ran: false, response: { error: { type: 'INTERNAL' } } });
  });

  it('a call that was accepted without approval does not run where a rule asks for it now', async () => {
    const rules = [{ name: 'ask', decision: 'require_approval' }];
    const resumed = (changes: object) =>
      decide(rules, { function: approvable, phase: { kind: 'resume', admitted: admittedOf(changes) } });
    expect((await resumed({})).response).toMatchObject({ error: { reason: 'POLICY_DENIED' } });
    expect((await resumed({ approved: true, runs: 'hash' })).ran).toBe(true);
  });

  it('a cap ends the call at its time', async () => {
    const { clock, extension } = setUp();
    const options = policyOptionsSchema.parse({
      rules: [{ name: 'quick', decision: 'cap', timeout_ms: 500 }],
    });
    const call = callOf({ function: fn, receivedAt: clock.now(), deadline: clock.now() + 9_000 });
    let given: ToolCall | undefined;
    const answer = outcomeOf(
      async () =>
        through(
          extension,
          call,
          (passed) => {
            given = passed;
            return new Promise((_resolve, reject) =>
              passed.signal.addEventListener('abort', () => reject(passed.signal.reason as Error)),
            );
          },
          options,
        ),
      call,
    );
    await clock.advance(500);
    expect(await answer).toMatchObject({ error: { type: 'TIMEOUT', reason: 'POLICY_TIMEOUT' } });
    expect(given?.deadline).toBe(1_500);
  });
});

describe('at load', () => {
  const faults = (rules: object[]) =>
    policyOptionsSchema
      .safeParse({ rules })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

  it.each<[string, object, string]>([
    ['no expression', deny('a', 'args.'), 'rules.0.when is no CEL expression'],
    ['a variable that is not there', deny('a', 'argz.x == 1'), 'did you mean "args"'],
    ['a text', deny('a', '"deny"'), 'has to be true or false'],
    ['a time for deny', deny('a', 'true', { timeout_ms: 5 }), 'rules.0.timeout_ms is for decision: cap'],
    ['a cap without time', { name: 'a', decision: 'cap' }, 'rules.0.timeout_ms is for decision: cap'],
    [
      'a message for allow',
      { name: 'a', decision: 'allow', message: 'x' },
      'rules.0.message is for decision: deny',
    ],
    ['a name with capitals', deny('A', 'true'), 'rules.0.name expected lower-case letters'],
  ])('%s is refused', (_what, rule, message) => {
    expect(faults([rule])?.join('\n')).toContain(message);
  });

  it('two rules of one name are refused', () => {
    expect(faults([deny('a', 'true'), deny('a', 'true')])).toEqual([
      'rules.1.name there is a rule "a" already',
    ]);
  });

  it('a rule of gateway.yaml that does not fit a tool it is for keeps that tool from being loaded', () => {
    const { extension } = setUp();
    const options = policyOptionsSchema.parse({ rules: [deny('limit', 'args.ammount > 5')] });
    expect(() => layerFor(extension, fn, options)).toThrow(
      /"limit" does not fit pay: .*did you mean "amount"/,
    );
  });

  it('a tool’s own rule is checked with its schema, and rules for all belong into gateway.yaml', () => {
    const options = policyOptionsSchema.parse({ tool_rules: [deny('own', 'args.amount == "5"')] });
    expect(faultsOfPolicy(fn, options)).toMatchObject([{ path: ['tool_rules', 0, 'when'] }]);
    const sly = functionOf({ extensions: { policy: { rules: [] } } });
    expect(faultsOfPolicy(sly, policyOptionsSchema.parse({}))).toMatchObject([{ path: ['rules'] }]);
    expect(() => layerFor(setUp().extension, sly, policyOptionsSchema.parse({}))).toThrow('gateway.yaml');
  });
});
