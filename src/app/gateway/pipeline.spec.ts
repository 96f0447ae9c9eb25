// The pipeline: the built-in order, an operator's own, custom extensions in their place, and names that are not there.
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { functionOf, recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { Extension, Layer } from '../../contract/plugin.ts';
import type { CustomExtension } from '../custom/custom-extensions.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS } from '../../extensions/index.ts';
import { Pipeline } from './pipeline.ts';
import type { Ports } from '../../ports/ports.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import type { Settings } from '../../settings/settings-schema.ts';

const DEFAULTS = loadSettings({}, tmpdir());
const BUILT_IN = TOOL_EXTENSIONS.map(({ name }) => name);
// Building a pipeline calls no port but log, metrics and clock, and reads the rules of calls.
const ports = {
  log: recordingLog(),
  metrics: recordingMetrics(),
  clock: new FakeClock(),
  callRules: { modes: new Map() },
} as unknown as Ports;

function custom(name: string, priority: number, stage: 'request' | 'tool' = 'tool'): CustomExtension {
  const around: Layer = (call, next) => next(call);
  const create = (): Extension<unknown> =>
    stage === 'request'
      ? { stage, onFailure: 'deny', prepare: () => around }
      : {
          stage,
          onFailure: 'deny',
          prepare: (fn, options) => (prepared.push([fn.name, options]), around),
        };
  const optionsSchema = z.strictObject({ loud: z.boolean().default(false) });
  return { plugin: { name, summary: `Does ${name}.`, create, optionsSchema }, priority };
}

function pipelineOf(changes: Partial<Settings> = {}, extensions: readonly CustomExtension[] = []) {
  return new Pipeline({ ...DEFAULTS, ...changes }, ports, extensions);
}

/** What custom extensions of the tool stage were prepared for, with which options. */
const prepared: [tool: string, options: unknown][] = [];

const namesOf = (steps: readonly { name: string }[]) => steps.map(({ name }) => name);

describe('Pipeline', () => {
  it('runs the lists as they stand when gateway.yaml says nothing', () => {
    const { view } = pipelineOf();
    expect(namesOf(view.request)).toEqual(REQUEST_EXTENSIONS.map(({ name }) => name));
    expect(namesOf(view.tool)).toEqual(BUILT_IN);
  });

  it("takes an operator's order, and leaves out what it does not name", () => {
    const { view, request } = pipelineOf({
      pipeline: { tool: ['admission', 'validation'], request: ['auth'] },
    });
    expect(namesOf(view.tool)).toEqual(['admission', 'validation']);
    expect(namesOf(request)).toEqual(['auth']);
  });

  it('refuses tool_rules in gateway.yaml, which a list of a tool would take the place of', () => {
    const extensions = { policy: { tool_rules: [{ name: 'a', decision: 'deny' }] } };
    expect(() => pipelineOf({ extensions })).toThrow(
      'extensions.policy.tool_rules: is for the declaration of a tool',
    );
  });

  it('refuses a tool with rules about content that the order leaves out', () => {
    const pipeline = pipelineOf({ pipeline: { tool: ['validation'] } });
    const guarded = { rules: [{ detect: 'email', action: 'mask' }] };
    for (const name of ['argument-guard', 'result-guard'])
      expect(() => pipeline.layersFor(functionOf({ extensions: { [name]: guarded } }))).toThrow(
        `does not name "${name}"`,
      );
    expect(pipeline.layersFor(functionOf()).map(({ name }) => name)).toEqual(['validation']);
  });

  it('puts what keeps answers behind the recording that gives them, where one is replayed', () => {
    const replay = { file: 'x', on_miss: 'call', on_repeat: 'last', on_changed: 'answer' } as const;
    const names = namesOf(pipelineOf({ replay }).view.tool);
    const from = names.indexOf('approval');
    expect(names.slice(from)).toEqual([
      'approval',
      'result-guard',
      'replay',
      'idempotency',
      'cache',
      'admission',
    ]);
    expect(names.toSorted()).toEqual(BUILT_IN.toSorted());
    expect(() => pipelineOf({ replay, pipeline: { tool: ['validation'] } })).toThrow(
      'pipeline.tool: names no "replay"',
    );
  });

  it('places custom extensions innermost by priority, except where the order names them', () => {
    const extensions = [custom('low', 1), custom('high', 9), custom('outer', 0, 'request')];
    const { view } = pipelineOf({}, extensions);
    expect(namesOf(view.tool)).toEqual([...BUILT_IN, 'high', 'low']);
    expect(namesOf(view.request).at(-1)).toBe('outer');
    const named = pipelineOf({ pipeline: { tool: ['low', 'validation'] } }, extensions);
    expect(namesOf(named.view.tool)).toEqual(['low', 'validation', 'high']);
  });

  it('refuses a name that is not there, guesses what was meant, and lists what there is', () => {
    expect(() => pipelineOf({ pipeline: { tool: ['validaton'] } })).toThrow(
      /pipeline\.tool\.0: there is no extension "validaton" here; did you mean "validation"\? Known: .*admission/,
    );
  });

  it.each([
    [['validation']],
    [['validation', 'policy']],
    [['policy', 'validation', 'approval']],
    [['validation', 'approval', 'policy']],
    [['validation', 'cache', 'policy', 'approval']],
  ])('refuses the order %j where there are policy rules, of the gateway or of a tool', (tool) => {
    const rules = [{ name: 'all', decision: 'deny' }];
    expect(() => pipelineOf({ pipeline: { tool }, extensions: { policy: { rules } } })).toThrow(
      'pipeline.tool',
    );
    const without = pipelineOf({ pipeline: { tool } });
    const own = functionOf({ extensions: { policy: { tool_rules: [{ name: 'own', decision: 'deny' }] } } });
    expect(() => without.layersFor(own)).toThrow('pipeline.tool');
  });

  it('tells all that is wrong with an order at once', () => {
    const said = {
      pipeline: { request: ['autth'], tool: ['validation'] },
      extensions: { policy: { tool_rules: [] } },
      budgets: {},
      replay: { file: 'x', on_miss: 'call', on_repeat: 'last', on_changed: 'answer' },
    } as unknown as Partial<Settings>;
    for (const fault of [
      'pipeline.request.0: there is no extension "autth"',
      'pipeline.tool: there are policy rules',
      'pipeline.tool: names no "admission"',
      'pipeline.tool: names no "replay"',
      'extensions.policy.tool_rules: is for the declaration of a tool',
    ])
      expect(() => pipelineOf(said)).toThrow(fault);
  });

  it('refuses an extension in the wrong stage', () => {
    expect(() => pipelineOf({ pipeline: { tool: ['auth'] } })).toThrow(
      'pipeline.tool.0: there is no extension "auth" here',
    );
  });

  it('an extension that prepares no layer for a function is not in its chain', () => {
    const picky: CustomExtension = {
      ...custom('picky', 0),
      plugin: {
        ...custom('picky', 0).plugin,
        create: () => ({
          stage: 'tool',
          onFailure: 'deny',
          phases: ['admit'],
          prepare: ({ name }) => (name === 'greet' ? (call, next) => next(call) : undefined),
        }),
      },
    };
    const pipeline = pipelineOf({ pipeline: { tool: ['picky'] } }, [picky]);
    expect(pipeline.layersFor(functionOf())).toMatchObject([
      { name: 'picky', onFailure: 'deny', phases: ['admit'] },
    ]);
    expect(pipeline.layersFor(functionOf({ name: 'other' }))).toEqual([]);
  });

  it("lays a tool's options over the gateway's, for that tool alone", () => {
    const said = { extensions: { mine: { loud: true } }, pipeline: { tool: ['mine'] } };
    const pipeline = pipelineOf(said, [custom('mine', 0)]);
    const optionsFor = (extensions: Record<string, Record<string, boolean>>) => {
      pipeline.layersFor(functionOf({ extensions }));
      return prepared.at(-1)?.[1];
    };
    expect(optionsFor({})).toEqual({ loud: true });
    expect(optionsFor({ mine: { loud: false } })).toEqual({ loud: false });
    expect(optionsFor({})).toEqual({ loud: true });
  });
});
