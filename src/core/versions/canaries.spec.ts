// Tools on trial: who gets them, that it stays that way, and who never does.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, recordingMetrics, compiledOf } from '../../../test/helpers/call-kit.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { Canaries } from './canaries.ts';
import { successOf } from '../settle.ts';

type By = 'tenant' | 'agent';
const TRIAL = functionOf({ name: 'greet_next', metadata: { version: '2.0.0' } });

function kit(percent: number, by: By = 'tenant') {
  const fn = functionOf({ name: 'greet', canary: { tool: 'greet_next', percent, by } });
  const snapshot = snapshotOf([fn.spec, TRIAL.spec], [fn, TRIAL].map(compiledOf));
  const metrics = recordingMetrics();
  const canaries = new Canaries(metrics);
  const callFor = (context: ToolContext) => callOf({ context, snapshot, function: fn });
  const choose = (context: ToolContext, disabled = false) =>
    canaries.choose(callFor(context), fn, () => disabled);
  return { fn, canaries, metrics, callFor, choose, snapshot };
}

const isTrial = (tool: CompiledTool | undefined) => tool?.function === TRIAL;
const tenant = (tenantId: string): ToolContext => ({ tenantId });

describe('Canaries', () => {
  it('gives all or none at the ends', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (tenantId) => {
        expect(isTrial(kit(100).choose({ tenantId }))).toBe(true);
        expect(isTrial(kit(0).choose({ tenantId }))).toBe(false);
      }),
    );
  });

  it('never gives calls of a tool from elsewhere to a tool of another source that its loader does not list', () => {
    const chosen = (mayCall: readonly string[]) => {
      const canary = { tool: 'greet_next', percent: 100, by: 'tenant' as const };
      const fn = functionOf({ name: 'greet', canary, origin: { source: 'http:a', mayCall } });
      const snapshot = snapshotOf([fn.spec, TRIAL.spec], [fn, TRIAL].map(compiledOf));
      const call = callOf({ context: tenant('acme'), snapshot, function: fn });
      return new Canaries(recordingMetrics()).choose(call, fn, () => false);
    };
    expect(chosen([])).toBeUndefined();
    expect(isTrial(chosen(['greet_*']))).toBe(true);
  });

  it('gives every process the same choice, and a greater share all of a smaller one', () => {
    const percent = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), percent, percent, (tenantId, a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((each) =>
          isTrial(kit(each).choose({ tenantId })),
        );
        expect(isTrial(kit(Math.min(a, b)).choose({ tenantId }))).toBe(less);
        expect(less === true && more === false).toBe(false);
      }),
    );
  });

  it('takes about the share that is asked for, of agents within one tenant too', () => {
    for (const by of ['tenant', 'agent'] as const) {
      const { choose } = kit(10, by);
      const ids = Array.from({ length: 5_000 }, (_, at) => `id-${at}`);
      const chosen = ids.filter((id) =>
        isTrial(choose(by === 'tenant' ? { tenantId: id } : { tenantId: 'acme', agentId: id })),
      );
      expect(chosen.length).toBeGreaterThan(400);
      expect(chosen.length).toBeLessThan(600);
    }
  });

  it('leaves those alone who name a version or are not known by what the share goes by, and all once it is switched off', () => {
    expect(isTrial(kit(100).choose({ tenantId: 'acme', toolVersion: '1.0.0' }))).toBe(false);
    expect(isTrial(kit(100, 'agent').choose(tenant('acme')))).toBe(false);
    expect(isTrial(kit(100).choose({}))).toBe(false);
    expect(isTrial(kit(100).choose(tenant('acme'), true))).toBe(false);
  });

  it('counts the calls of both, and no others', () => {
    const { canaries, metrics, callFor, fn } = kit(100);
    for (const disabled of [false, true]) {
      const call = callFor(tenant('acme'));
      canaries.choose(call, fn, () => disabled);
      canaries.count(call, successOf(call, { data: 1 }, 100));
    }
    const other = callOf();
    canaries.choose(other, functionOf(), () => false);
    canaries.count(other, successOf(other, { data: 1 }, 100));
    expect(Object.fromEntries(metrics.values)).toEqual({
      'ute_canary_calls_total{greet,canary,ok}': 1,
      'ute_canary_calls_total{greet,stable,ok}': 1,
    });
  });

  it('keeps the tool on trial out of lists, and lets it be called by name', () => {
    const { snapshot } = kit(0);
    expect(snapshot.functions.map(({ name }) => name)).toEqual(['greet']);
    expect(isTrial(snapshot.find('greet_next'))).toBe(true);
  });
});
