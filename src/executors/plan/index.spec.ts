// The plan executor: hostile plans are refused or bounded, and a declaration that would let one past a human is not loaded.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionOf, recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { planExecutor } from './index.ts';
import { readPlan, toolsIn } from './read-plan.ts';

const PLAN = { name: 'trip', description: 'A trip', steps: [{ id: 'a', tool: 'find' }] };
const schemaOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});

/** Anything but a refusal is thrown on. */
function planOf(args: JsonObject) {
  try {
    return readPlan(args, 3);
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}

describe('a plan', () => {
  it('of any JSON is read within its bounds, or refused with what is wrong with it', () => {
    const step = fc.oneof(
      fc.record({ id: fc.string(), tool: fc.string() }, { requiredKeys: [] }),
      fc.record({ parallel: fc.array(fc.record({ id: fc.string(), tool: fc.string() })) }),
      fc.json().map((text) => JSON.parse(text) as JsonValue),
    );
    const written = fc.record(
      { name: fc.oneof(fc.constant('trip'), fc.string()), description: fc.string(), steps: fc.array(step) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(written, (args) => {
        const asked = args as unknown as JsonObject;
        const tools = toolsIn(asked);
        expect(new Set(tools).size).toBe(tools.length);
        const plan = planOf(asked);
        const calls = plan instanceof ToolFailure ? [] : plan.calls;
        const said = plan instanceof ToolFailure ? plan.reason : plan.name;
        expect(said).toMatch(/^(?:PLAN_INVALID|[a-z][a-z0-9_]*)$/);
        expect(calls.length).toBeLessThanOrEqual(3);
        // What is approved covers all that is called.
        expect(calls.every(({ tool }) => tools.includes(tool))).toBe(true);
      }),
    );
  });

  it.each([
    ['a field that there is none of', { ...PLAN, metadata: { is_dangerous: false } }, 'metadata'],
    ['a name beside the rules', { ...PLAN, name: 'Trip' }, '/name'],
    [
      'hidden characters anywhere',
      { ...PLAN, steps: [{ id: 'a', tool: 'find', arguments: { x: '\u200b' } }] },
      'hidden',
    ],
    ['a large schema', { ...PLAN, input_schema: { title: 'x'.repeat(9_000) } }, '/input_schema'],
    ['no steps', { ...PLAN, steps: [] }, '/steps'],
    ['too much of all', { ...PLAN, steps: [{ id: 'a', tool: 'x'.repeat(40_000) }] }, '32768'],
  ])('with %s is refused', (_, args, message) => {
    expect(() => readPlan(args, 3)).toThrow(message);
  });
});

describe('a declaration', () => {
  const specControl = {} as never;
  const executor = planExecutor.create({ specControl, log: recordingLog(), metrics: recordingMetrics() });
  const prepare = (options: object, properties: string[], requiresApproval: boolean) =>
    executor.prepare({
      function: functionOf({ inputSchema: schemaOf(...properties), metadata: { requiresApproval } }),
      options: planExecutor.optionsSchema.parse(options),
    });

  it('that asks no human is refused', () => {
    const fields = ['name', 'description', 'steps'];
    expect(() => prepare({ does: 'propose' }, fields, false)).toThrow('requires_approval');
    expect(() => prepare({ does: 'propose' }, fields, true)).not.toThrow();
  });

  it('whose schema lacks what it needs is refused', () => {
    expect(() => prepare({ does: 'propose' }, ['name'], true)).toThrow('"description"');
    expect(() => prepare({ does: 'withdraw' }, [], false)).toThrow('"plan"');
  });

  it.each([
    [{}],
    [{ does: 'run' }],
    [{ does: 'propose', max_steps: 51 }],
    [{ does: 'propose', max_plans: 0 }],
  ])('with %j is refused', (options) => {
    expect(planExecutor.optionsSchema.safeParse(options).success).toBe(false);
  });
});
