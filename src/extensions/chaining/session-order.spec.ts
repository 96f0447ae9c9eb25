// SessionOrder: what a call is held to by the steps of its session, and which steps it leaves behind, whatever fails.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf, recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { refusalOf, successOf } from '../../core/settle.ts';
import type { SessionSteps } from '../../ports/sessions/session-steps.ts';
import type { ChainingRule } from './options.ts';
import { SessionOrder } from './session-order.ts';
import { calledStep, succeededStep, type StepsOfTool } from './steps-of-tool.ts';

const SESSION = { tenant: 'acme', id: 's1' };
const WITHIN_MS = 60_000;

const stepsWith = (changes: Partial<StepsOfTool>): StepsOfTool => ({
  rules: [],
  asked: [],
  called: [],
  succeeded: [],
  ...changes,
});

const ruleOf = (changes: Partial<ChainingRule>): ChainingRule => ({ name: 'r', tools: ['*'], ...changes });

function held(rules: readonly ChainingRule[]): StepsOfTool {
  const asked = rules.flatMap(({ after = [], not_after: notAfter = [] }) => [
    ...after.map(succeededStep),
    ...notAfter.map(calledStep),
  ]);
  return stepsWith({ rules, asked });
}

/** `taken`: what the session did, and how long ago. `failing`: what of the store does not answer. */
function kit(taken: Readonly<Record<string, number>> = {}, failing: readonly ('taken' | 'mark')[] = []) {
  const [log, metrics] = [recordingLog(), recordingMetrics()];
  const seen: string[] = [];
  const answer = <Result>(what: 'taken' | 'mark', result: Result) =>
    failing.includes(what) ? Promise.reject(new Error('away')) : Promise.resolve(result);
  const sessionSteps: SessionSteps = {
    mark: async (session, steps) => {
      seen.push(`mark ${session.id} ${steps.join()}`);
      return answer('mark', undefined);
    },
    taken: async (_session, steps) => {
      seen.push(`look for ${steps.join()}`);
      const found = steps.flatMap((step) =>
        taken[step] === undefined ? [] : [[step, taken[step]] as const],
      );
      return answer('taken', new Map(found));
    },
  };
  const order = new SessionOrder({ log, metrics, sessionSteps });
  const walk = async (
    steps: StepsOfTool,
    ends: 'well' | 'badly' = 'well',
    changes: Partial<ToolCall> = {},
  ) => {
    const call = callOf(changes);
    const next = async (inner: ToolCall) => {
      seen.push('run');
      return ends === 'well'
        ? successOf(inner, { data: null }, 1_000)
        : refusalOf(inner, new ToolFailure('TRANSIENT', 'no'));
    };
    const failure = await order.walk(call, next, SESSION, steps).then(
      async ({ ok }) => {
        // What the core does of an answer that the caller gets.
        if (ok) await call.progress.whenSucceeded?.();
        return undefined;
      },
      (error: unknown) => error as ToolFailure,
    );
    return { call, failure };
  };
  return { log, metrics, seen, walk };
}

describe('a call that leaves steps behind', () => {
  const both = stepsWith({ called: ['called a'], succeeded: ['succeeded a'] });

  it('is known of before it runs, and has succeeded only after it has', async () => {
    const { walk, seen } = kit();
    await walk(both);
    expect(seen).toEqual(['mark s1 called a', 'run', 'mark s1 succeeded a']);
  });

  it('that fails has been called, and has not succeeded', async () => {
    const { walk, seen } = kit();
    await walk(both, 'badly');
    expect(seen).toEqual(['mark s1 called a', 'run']);
  });

  it.each<[string, Partial<ToolCall>]>([
    ['is admitted to run later', { phase: { kind: 'admit' } }],
    ['is only tried', { context: { tenantId: 'acme', dryRun: true } }],
  ])('leaves none where it %s', async (_what, changes) => {
    const { walk, seen } = kit();
    await walk(both, 'well', changes);
    expect(seen).toEqual(['run']);
  });

  it('does not run where it could not be known of', async () => {
    const { walk, seen } = kit({}, ['mark']);
    const { failure } = await walk(both);
    expect(failure).toMatchObject({ type: 'UNAVAILABLE', reason: 'STEPS_UNKNOWN', retryAfterMs: 1_000 });
    expect(seen).toEqual(['mark s1 called a']);
  });

  it('that has run is answered, and said to be degraded, where its success cannot be kept', async () => {
    const { walk, log } = kit({}, ['mark']);
    const { call, failure } = await walk(stepsWith({ succeeded: ['succeeded a'] }));
    expect([failure, call.progress.degraded]).toEqual([undefined, ['chaining']]);
    expect(log.lines).toHaveLength(1);
  });
});

describe('a call that is held to steps', () => {
  it('asks once for all of them, and for nothing where no rule is about it', async () => {
    const { walk, seen } = kit({ 'succeeded a': 1, 'succeeded b': 1 });
    await walk(held([ruleOf({ after: ['a'] }), ruleOf({ after: ['b'], not_after: ['c'] })]));
    await walk(stepsWith({}));
    expect(seen).toEqual(['look for succeeded a,succeeded b,called c', 'run', 'run']);
  });

  it('is refused while they are not known', async () => {
    const { walk, seen } = kit({}, ['taken']);
    const { failure } = await walk(held([ruleOf({ not_after: ['a'] })]));
    expect([failure?.reason, seen]).toEqual(['STEPS_UNKNOWN', ['look for called a']]);
  });

  it('is told each step that is missing and the rule, which its record and the figures name', async () => {
    const { walk, metrics } = kit({ 'succeeded b': 1 });
    const { call, failure } = await walk(held([ruleOf({ name: 'look-first', after: ['a', 'b', 'c'] })]));
    expect(failure).toMatchObject({
      reason: 'STEP_MISSING',
      message: 'The rule look-first has this tool called only after a and c in the same session.',
      details: { rule: 'look-first', missing: ['a', 'c'] },
    });
    expect(call.progress.notes).toEqual({ chaining_rule: 'look-first' });
    expect(metrics.values.get('ute_chaining_refusals_total{look-first}')).toBe(1);
  });

  it('is let through exactly when every rule lets it, up to the last millisecond of its time', async () => {
    const step = fc.constantFrom('a', 'b', 'c');
    const rule = fc
      .record({
        after: fc.array(step, { maxLength: 2 }),
        notAfter: fc.array(step, { maxLength: 2 }),
        timed: fc.boolean(),
      })
      .map(({ after, notAfter, timed }) =>
        ruleOf({ after, not_after: notAfter, ...(timed && { within_ms: WITHIN_MS }) }),
      );
    const age = fc.constantFrom(undefined, 0, WITHIN_MS - 1, WITHIN_MS, WITHIN_MS + 1);
    const ages = fc.record({ a: age, b: age, c: age });
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 3 }), ages, ages, async (rules, succeeded, called) => {
        const at = (all: Record<string, number | undefined>, name: (pattern: string) => string) =>
          Object.entries(all).flatMap(([key, ago]) => (ago === undefined ? [] : [[name(key), ago] as const]));
        const { walk, seen } = kit(
          Object.fromEntries([...at(succeeded, succeededStep), ...at(called, calledStep)]),
        );
        const { failure } = await walk(held(rules));
        const isIn = (ago: number | undefined, within = WITHIN_MS + 1) => ago !== undefined && ago <= within;
        const lets = ({ after = [], not_after: notAfter = [], within_ms: within }: ChainingRule) =>
          after.every((key) => isIn(succeeded[key as 'a'], within)) &&
          !notAfter.some((key) => isIn(called[key as 'a']));
        expect([failure === undefined, seen.includes('run')]).toEqual([rules.every(lets), rules.every(lets)]);
      }),
      { numRuns: 200 },
    );
  });
});
