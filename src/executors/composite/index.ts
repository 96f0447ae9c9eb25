// The composite executor: a tool made of other tools. Each step is a full call: its own permissions, approval and limits.
import type { JsonObject } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { whatRuns } from '../../contract/tool/tool-function.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import { compileSteps, type Program } from './compile-steps.ts';
import type { CompositeOptions } from './options.ts';
import { compositeOptionsSchema } from './options-schema.ts';
import { renderSteps } from './render-steps.ts';
import { StepRun } from './run-steps.ts';

export const compositeExecutor: ExecutorPlugin<CompositeOptions, { nestedCalls: NestedCalls }> = {
  name: 'composite',
  summary: 'Calls other tools in steps, each a full call of its own, and passes results on by expressions.',
  optionsSchema: compositeOptionsSchema,
  placeholders: (options) =>
    compileSteps(options).inputs.map(({ name, path }) => ({ name, path: path.map(String) })),
  create: ({ nestedCalls }) => createComposite(nestedCalls),
};

function createComposite(nestedCalls: NestedCalls): Executor<CompositeOptions> {
  return { prepare: (target) => prepare(target, nestedCalls) };
}

function prepare(
  { function: fn, options }: ExecutorTarget<CompositeOptions>,
  nestedCalls: NestedCalls,
): PreparedFunction {
  if (fn.action !== undefined) {
    throw new Error('A composite tool has no actions: give each of them a composite tool of its own.');
  }
  const program = compileSteps(options);
  const itself = program.steps.find(({ tool }) => tool === fn.name);
  if (itself !== undefined) throw new Error(`The step "${itself.id}" calls the tool that it is a step of.`);
  return {
    async execute(call, emit) {
      await checkTools(program, call, options.agreed);
      return new StepRun(program, call, nestedCalls, emit).run();
    },
    async render(call): Promise<JsonObject> {
      await checkTools(program, call, options.agreed);
      return renderSteps(program, call.arguments);
    },
    yieldsPlainJson: true,
    calls: program.steps.map(({ tool }) => tool),
  };
}

/** Before the first step: a set without one of the tools must not leave the work half done. */
async function checkTools(
  { steps }: Program,
  { snapshot }: ToolCall,
  agreed: CompositeOptions['agreed'],
): Promise<void> {
  const missing = steps.find(({ tool }) => snapshot.find(tool) === undefined);
  if (missing === undefined) return agreed && checkAgreed(steps, snapshot, agreed);
  const { id, tool } = missing;
  throw toolFailure('STEP_TOOL_NOT_FOUND', `The step "${id}" calls the tool "${tool}", which is not there.`, {
    partialSideEffects: false,
    details: { step: id, tool },
  });
}

/** A human agreed to these tools as they were then. */
async function checkAgreed(
  steps: Program['steps'],
  snapshot: ToolCall['snapshot'],
  agreed: NonNullable<CompositeOptions['agreed']>,
): Promise<void> {
  for (const tool of new Set(steps.map((step) => step.tool))) {
    const fn = snapshot.find(tool)?.function;
    const runs = fn && (await whatRuns(fn, snapshot));
    if (runs !== undefined && Object.hasOwn(agreed, tool) && agreed[tool] === runs) continue;
    const message = `The tool "${tool}" is not what it was when a human approved this plan: have it proposed and approved again.`;
    throw new ToolFailure('UNAVAILABLE', message, {
      reason: 'PLAN_OUTDATED',
      retryable: false,
      partialSideEffects: false,
      details: { tool },
    });
  }
}
