// validation: arguments against the input schema before the tool runs, the result against the output schema after.
import { z } from 'zod';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ExtensionPlugin, Layer, ToolExtension } from '../../contract/plugin.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import { isLarge, yieldToLoop } from '../../lib/concurrency/in-slices.ts';
import { withClosedRoot } from './closed-root.ts';
import { fittingArguments } from './fitting-arguments.ts';
import { refuseWrongResult } from './refuse-wrong-result.ts';
import { CheckCompiler, type Checks } from './tool-checks.ts';

const optionsSchema = z.strictObject({
  output: z
    .enum(['enforce', 'off'])
    .default('enforce')
    .describe('Whether results are held to output_schema.'),
  undeclared_arguments: z
    .enum(['refuse', 'drop', 'allow'])
    .default('refuse')
    .describe(
      'What becomes of arguments that the tool does not declare, where its input_schema says neither additionalProperties nor unevaluatedProperties at its root: the call is refused, or they are dropped before the tool sees them, or they are passed on.',
    ),
});
type ValidationOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly clock: Clock;
}

export const validation: ExtensionPlugin<ValidationOptions, Needs> = {
  name: 'validation',
  summary: 'Holds arguments to the input schema, fills in defaults, and holds results to the output schema.',
  optionsSchema,
  shape: (spec, options) => withClosedRoot(spec, options.undeclared_arguments),
  create: ({ clock }) => createValidation(new CheckCompiler(clock)),
};

function createValidation(compiler: CheckCompiler): ToolExtension<ValidationOptions> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    explains: true,
    prepare(fn, { output: mode }) {
      const checks = compiler.checksOf(fn);
      const output = mode === 'enforce' ? checks.output : undefined;
      return output === undefined ? holdingArguments(checks) : holdingBoth(checks, output);
    },
    close: () => compiler.close(),
  };
}

/** Whatever the result is: nothing is waited for once the tool is asked. */
function holdingArguments(checks: Checks): Layer {
  return function validateArguments(call, next) {
    const args = fittingArguments(call, checks);
    return args instanceof Promise
      ? args.then((late) => next(withArguments(call, late)))
      : next(withArguments(call, args));
  };
}

function holdingBoth(checks: Checks, output: SchemaCheck): Layer {
  return async function validateBoth(call, next) {
    const fitting = fittingArguments(call, checks);
    const args = fitting instanceof Promise ? await fitting : fitting;
    const response = await next(withArguments(call, args));
    if (response.ok && hasRun(call, response)) {
      // Reading and writing it has taken this turn.
      if (isLarge(response.dataJson)) await yieldToLoop();
      const checked = refuseWrongResult(output, response, call.signal);
      if (checked !== undefined) await checked;
    }
    return response;
  };
}

/** Nothing has run where the call is a dry run, only accepted, or explained. */
function hasRun({ context, phase }: ToolCall, { meta }: ToolResponse): boolean {
  return context.dryRun !== true && meta.acceptedAt === undefined && phase.kind !== 'explain';
}

function withArguments(call: ToolCall, args: JsonObject): ToolCall {
  return args === call.arguments ? call : { ...call, arguments: args };
}
