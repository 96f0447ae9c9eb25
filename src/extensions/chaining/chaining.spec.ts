// chaining: what runs only after something, and what no longer runs after something, each session by itself.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callOf,
  functionOf,
  recordingLog,
  recordingMetrics,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import { MemorySessionSteps } from '../../infra/session-steps/memory-session-steps.ts';
import type { SessionSteps } from '../../ports/sessions/session-steps.ts';
import { chaining } from './index.ts';
import { chainingOptionsSchema } from './options.ts';

const RULES = [
  { name: 'look-first', tools: ['book'], after: ['look'], within_ms: 60_000 },
  { name: 'nothing-out', tools: ['send_*'], not_after: ['read_*'], message: 'Ask a colleague.' },
];

function kit(rules: readonly object[] = RULES, store?: SessionSteps) {
  const clock = new FakeClock();
  const metrics = recordingMetrics();
  const sessionSteps = store ?? new MemorySessionSteps(clock);
  const extension = chaining.create({ log: recordingLog(), metrics, sessionSteps });
  const options = chainingOptionsSchema.parse({ rules });
  const call = async (
    tool: string,
    context: ToolContext = { sessionId: 's1' },
    ends: 'well' | 'badly' = 'well',
    more: Partial<ToolCall> = {},
  ) => {
    const made = callOf({ function: functionOf({ name: tool }), context, ...more });
    const run = async (inner: ToolCall) =>
      ends === 'well'
        ? successOf(inner, { data: null }, 1_000)
        : refusalOf(inner, new ToolFailure('TRANSIENT', 'no'));
    try {
      const response = await through(extension, made, run, options);
      if (response.ok) await made.progress.whenSucceeded?.();
      return response.ok ? 'ok' : response.error.type;
    } catch (error) {
      return error instanceof ToolFailure ? (error.reason ?? error.type) : String(error);
    }
  };
  return { clock, call, metrics, extension, options };
}

describe('a tool that comes after another', () => {
  it('runs once that one has succeeded in the same session, and for as long as is said', async () => {
    const { call, clock, metrics } = kit();
    expect(await call('book')).toBe('STEP_MISSING');
    expect(await call('look', undefined, 'badly')).toBe('TRANSIENT');
    expect(await call('book')).toBe('STEP_MISSING');
    expect(await call('look')).toBe('ok');
    expect(await call('book')).toBe('ok');
    await clock.advance(60_001);
    expect(await call('book')).toBe('STEP_MISSING');
    expect(metrics.values.get('ute_chaining_refusals_total{look-first}')).toBe(3);
  });

  it.each([-3_600_000, 3_600_000])(
    'runs for as long as is said, also where the date of the machine is set off by %i ms',
    async (ms) => {
      const { call, clock } = kit();
      await call('look');
      clock.setWall(clock.wall() + ms);
      await clock.advance(60_000);
      expect(await call('book')).toBe('ok');
      await clock.advance(1);
      expect(await call('book')).toBe('STEP_MISSING');
    },
  );

  it.each([
    [{ sessionId: 's2' }],
    [{ sessionId: 's1', tenantId: 'other' }],
    [{ sessionId: 's1', agentId: 'other' }],
    [{ sessionId: 's1', userId: 'other' }],
  ])('is not opened for %j by what another called', async (context) => {
    const { call } = kit();
    await call('look');
    expect(await call('book', context)).toBe('STEP_MISSING');
  });

  it('needs a session, which what it comes after does not', async () => {
    const { call } = kit();
    expect(await call('look', {})).toBe('ok');
    expect(await call('book', {})).toBe('SESSION_REQUIRED');
    expect(await call('other', {})).toBe('ok');
  });

  it('is not opened by a call that was only tried', async () => {
    const { call } = kit();
    await call('look', { sessionId: 's1', dryRun: true });
    expect(await call('book')).toBe('STEP_MISSING');
  });
});

describe('a tool that does not come after another', () => {
  it('is refused once that one was called, whatever came of it, with the words of the rule', async () => {
    const { call, extension, options } = kit();
    expect(await call('send_mail')).toBe('ok');
    await call('read_page', undefined, 'badly');
    expect(await call('send_mail')).toBe('STEP_REFUSED');
    expect(await call('send_mail', { sessionId: 's2' })).toBe('ok');
    const made = callOf({ function: functionOf({ name: 'send_mail' }), context: { sessionId: 's1' } });
    await expect(through(extension, made, async () => never(), options)).rejects.toMatchObject({
      type: 'PERMISSION_DENIED',
      message: 'Ask a colleague.',
      details: { rule: 'nothing-out', after: ['read_*'] },
    });
  });

  it('nothing that was called is forgotten, whatever else is called: as a model of all calls says', async () => {
    const tool = fc.constantFrom('look', 'book', 'send_mail', 'read_page', 'read_mail', 'other');
    const ends = fc.constantFrom('well' as const, 'badly' as const);
    const calls = fc.array(fc.tuple(tool, fc.constantFrom('s1', 's2'), ends), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(calls, async (all) => {
        const { call } = kit();
        const seen = new Map<string, { looked: boolean; read: boolean }>();
        for (const [name, sessionId, end] of all) {
          const state = seen.get(sessionId) ?? { looked: false, read: false };
          seen.set(sessionId, state);
          const outcome = end === 'well' ? 'ok' : 'TRANSIENT';
          const isRefused = (name === 'book' && !state.looked) || (name === 'send_mail' && state.read);
          const refusal = name === 'book' ? 'STEP_MISSING' : 'STEP_REFUSED';
          expect(await call(name, { sessionId }, end)).toBe(isRefused ? refusal : outcome);
          if (name === 'look' && end === 'well') state.looked = true;
          if (name.startsWith('read_')) state.read = true;
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('while steps cannot be kept', () => {
  const away: SessionSteps = {
    mark: () => Promise.reject(new Error('away')),
    taken: () => Promise.reject(new Error('away')),
  };

  it('what a rule holds back, and what must be known of later, is refused; all else runs', async () => {
    const { call } = kit(RULES, away);
    expect(await call('book')).toBe('STEPS_UNKNOWN');
    expect(await call('read_page')).toBe('STEPS_UNKNOWN');
    expect(await call('look')).toBe('ok');
    expect(await call('other')).toBe('ok');
  });

  it('as when there are too many sessions: none is forgotten to make room, until its day is over', async () => {
    const clock = new FakeClock();
    const steps = new MemorySessionSteps(clock, { most: 3, mostOfTenant: 2 });
    const of = (tenant: string, id: string) => ({ tenant, id });
    await steps.mark(of('acme', 'a'), ['x']);
    await steps.mark(of('acme', 'b'), ['x']);
    await expect(steps.mark(of('acme', 'c'), ['x'])).rejects.toThrow('no further session');
    // One tenant leaves room for others.
    await steps.mark(of('umbrella', 'd'), ['x']);
    await expect(steps.mark(of('wayne', 'e'), ['x'])).rejects.toThrow('no further session');
    await clock.advance(5);
    await steps.mark(of('acme', 'a'), ['y']);
    expect([...(await steps.taken(of('acme', 'a'), ['x', 'y', 'z']))]).toEqual([
      ['x', 5],
      ['y', 0],
    ]);
    await clock.advance(86_400_000);
    await steps.mark(of('acme', 'c'), ['x']);
    await steps.mark(of('acme', 'e'), ['x']);
    expect((await steps.taken(of('acme', 'a'), ['x'])).size).toBe(0);
  });
});

describe('rules', () => {
  it('are those of gateway.yaml: a tool that brings its own is no tool', () => {
    const fn = functionOf({ extensions: { chaining: { rules: [] } } });
    expect(chaining.check?.(fn, { rules: [] })).toMatchObject([{ path: ['rules'] }]);
  });

  it('that the canary of a tool would get round are refused at load', () => {
    const { extension, options } = kit();
    const fn = functionOf({ name: 'send_mail', canary: { tool: 'mail_2', percent: 10, by: 'agent' } });
    expect(() => extension.stage === 'tool' && extension.prepare(fn, options)).toThrow('its canary');
  });

  it.each([
    [{ name: 'a', tools: ['x'] }, 'or not_after is needed'],
    [{ name: 'a', tools: ['x'], not_after: ['y'], within_ms: 5_000 }, 'is for after'],
    [{ name: 'A b', tools: ['x'], after: ['y'] }, 'lower-case'],
    [{ name: 'a', tools: [], after: ['y'] }, ''],
  ])('%j is refused: %s', (rule, message) => {
    const { success, error } = chainingOptionsSchema.safeParse({ rules: [rule] });
    expect(success).toBe(false);
    expect(error?.message).toContain(message);
  });

  it('leave tools alone that none of them names', () => {
    const { extension, options } = kit();
    expect(extension.stage === 'tool' && extension.prepare(functionOf({ name: 'other' }), options)).toBe(
      undefined,
    );
  });
});

function never(): never {
  throw new Error('it ran');
}
