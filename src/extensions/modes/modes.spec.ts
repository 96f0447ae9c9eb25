// modes: what a mode does not allow is refused, what is late is told of or ended, and a tool that no mode concerns pays nothing.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  layerFor,
  outcomeOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { ModeRule } from '../../contract/rules/call-rules.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { Next } from '../../contract/plugin.ts';
import { refusalOf } from '../../core/settle.ts';
import { modes } from './index.ts';

const fn = functionOf({ name: 'lookup', metadata: { category: 'retrieval', riskLevel: 'medium' } });

function setUp(...rules: readonly ModeRule[]) {
  const clock = new FakeClock(1_000);
  const log = recordingLog();
  const metrics = recordingMetrics();
  const callRules = { modes: new Map(rules.map((rule) => [rule.mode, rule])) };
  return { clock, log, metrics, extension: modes.create({ callRules, clock, log, metrics }) };
}

async function called(rule: ModeRule, changes: Partial<ToolCall> = {}, tookMs = 0) {
  const { clock, extension, ...seen } = setUp(rule);
  const { calls, next } = echoNext();
  const slow: Next = async (inside) => {
    const ended = new Promise<undefined>((resolve) => clock.after(tookMs, () => resolve(undefined)));
    const late = new Promise<Error>((resolve) =>
      inside.signal.addEventListener('abort', () => resolve(inside.signal.reason as Error)),
    );
    const reason = await Promise.race([ended, late]);
    return reason === undefined ? next(inside) : refusalOf(inside, reason);
  };
  const call = callOf({ function: fn, context: { mode: rule.mode }, receivedAt: clock.now(), ...changes });
  const answer = outcomeOf(async () => through(extension, call, slow, {}), call);
  await clock.advance(tookMs);
  return { ...seen, response: await answer, ran: calls };
}

const refused = (message: string) => ({
  ok: false,
  error: { type: 'MODE_RESTRICTED', reason: 'MODE_RULE', message, details: { mode: 'voice' } },
});

describe('what a mode allows', () => {
  it.each<[string, Partial<ModeRule>, string]>([
    ['tools', { tools: ['book*', 'look'] }, 'modes.voice.tools does not name it'],
    ['except_tools', { exceptTools: ['l?okup'] }, 'modes.voice.except_tools names it'],
    ['max_risk', { maxRisk: 'low' }, 'its risk is medium, and modes.voice.max_risk is low'],
  ])('%s: what is not allowed is refused with the reason', async (_name, rule, why) => {
    const { response, ran, metrics } = await called({ mode: 'voice', ...rule });
    expect(response).toMatchObject(refused(`This tool may not be called in voice mode: ${why}.`));
    expect(ran).toEqual([]);
    expect(metrics.values.get('ute_mode_refusals_total{voice}')).toBe(1);
  });

  it.each<Partial<ModeRule>>([{ tools: ['lookup'] }, { exceptTools: ['other'] }, { maxRisk: 'medium' }])(
    'what is allowed runs: %j',
    async (rule) => {
      expect((await called({ mode: 'voice', ...rule })).response.ok).toBe(true);
    },
  );

  it('by the name of the tool, all of its actions; by that of an action, this one', async () => {
    const spec = { name: 'crm', actions: [{ name: 'read', description: 'x', parameters: [] }] };
    const action = functionOf(spec);
    for (const tools of [['crm'], ['crm.read']])
      expect((await called({ mode: 'voice', tools }, { function: action })).response.ok).toBe(true);
  });

  it('says so before a call is accepted that is to run later', () => {
    expect(setUp().extension).toMatchObject({ phases: ['admit', 'run'] });
  });

  it('a call of another mode, or of none, is left alone', async () => {
    for (const context of [{}, { mode: 'text' as const }])
      expect((await called({ mode: 'voice', tools: ['none'] }, { context })).response.ok).toBe(true);
  });

  it('a tool that no mode concerns has no such step', () => {
    expect(layerFor(setUp().extension, fn, {})).toBeUndefined();
    const { extension } = setUp({ mode: 'voice', callsPerTurn: 1, tools: ['*'] });
    expect(layerFor(extension, fn, {})).toBeUndefined();
  });
});

describe('how long a call may take', () => {
  it('a soft limit that is exceeded is in the log and in meta, and changes nothing else', async () => {
    const { response, log, metrics } = await called({ mode: 'voice', softMs: 800 }, {}, 801);
    expect(response).toMatchObject({ ok: true, meta: { softLimitMs: 800 } });
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { tool: 'lookup', mode: 'voice', softMs: 800, tookMs: 801 } },
    ]);
    expect(metrics.values.get('ute_soft_limit_exceeded_total{voice,lookup}')).toBe(1);
  });

  it('one that is kept is not spoken of', async () => {
    const { response, log } = await called({ mode: 'voice', softMs: 800 }, {}, 800);
    expect(response.meta.softLimitMs).toBeUndefined();
    expect(log.lines).toEqual([]);
  });

  it('of retrievals the smaller of both soft limits counts, of other tools only the one for all', async () => {
    const rule = { mode: 'voice', softMs: 800, retrievalSoftMs: 100 } as const;
    expect((await called(rule, {}, 200)).response.meta.softLimitMs).toBe(100);
    expect((await called(rule, { function: functionOf() }, 200)).response.meta.softLimitMs).toBeUndefined();
  });

  it('a hard limit ends the call: TIMEOUT, with the mode', async () => {
    const { response, ran } = await called({ mode: 'live_call', hardMs: 400 }, {}, 401);
    expect(response).toMatchObject({
      error: { type: 'TIMEOUT', reason: 'MODE_TIMEOUT', details: { mode: 'live_call', limit_ms: 400 } },
    });
    expect(ran).toEqual([]);
  });

  it('the inside knows how long it has', async () => {
    expect((await called({ mode: 'live_call', hardMs: 400 })).ran).toMatchObject([{ deadline: 1_400 }]);
  });

  it.each<[string, Partial<ToolCall>]>([
    ['a step of another call', { request: requestOf({ parent: {} as never }) }],
    ['a call that is accepted to run later', { phase: { kind: 'admit' } }],
    ['one that runs later', { phase: { kind: 'resume', admitted: {} as never } }],
  ])('%s has no time of its own', async (_name, changes) => {
    const rule = { mode: 'voice', softMs: 1, hardMs: 2 } as const;
    const { response, log } = await called(rule, changes, 5);
    expect(response.ok).toBe(true);
    expect(log.lines).toEqual([]);
  });
});
