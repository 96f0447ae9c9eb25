// validation: arguments against the input schema before the tool runs, the result against the output schema after.
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import { createValidator, type Validator } from '../../lib/json-schema/validator.ts';
import type { Clock } from '../../ports/clock.ts';
import { declaresBusinessId, ofThisTenant } from './business-id.ts';
import { mismatch, outputInvalid } from './failures.ts';
import { ForeignChecks } from './foreign-checks.ts';
import { dropStandInNulls } from './stand-in-nulls.ts';

const optionsSchema = z.strictObject({
  output: z
    .enum(['enforce', 'off'])
    .default('enforce')
    .describe('Whether results are held to output_schema.'),
});
type ValidationOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly clock: Clock;
}

export const validation: ExtensionPlugin<ValidationOptions, Needs> = {
  name: 'validation',
  summary: 'Holds arguments to the input schema, fills in defaults, and holds results to the output schema.',
  optionsSchema,
  create: ({ clock }) => createValidation(new ForeignChecks(clock)),
};

/** A tool's schemas, compiled at its first call and kept as long as the tool is. */
interface Checks {
  readonly input: Validator;
  readonly output: Validator | undefined;
  /** [parameter, config field] pairs whose default is the agent's config. */
  readonly fromConfig: readonly (readonly [string, string])[];
  readonly declaresBusinessId: boolean;
}

/** What `foreign` checks, it checks in a thread; schemas of the operator's own are applied right here. */
function createValidation(foreign: ForeignChecks): Extension<ValidationOptions> {
  const known = new WeakMap<ToolFunction, Checks>();
  return {
    stage: 'tool',
    onFailure: 'deny',
    deferred: 'both',
    async around(call, next, options) {
      const fn = call.function as ToolFunction;
      if (fn.spec.foreign !== undefined) return foreign.around(call, next, options.output);
      let checks = known.get(fn);
      if (checks === undefined) known.set(fn, (checks = checksOf(fn)));
      const args = fitting(prepareArguments(call, call.arguments, checks), call, fn, checks);
      const response = await next(args === call.arguments ? call : { ...call, arguments: args });
      if (
        response.ok &&
        checks.output !== undefined &&
        options.output === 'enforce' &&
        !call.context.dryRun &&
        response.meta.acceptedAt === undefined
      ) {
        const wrong = checks.output.validate(response.data);
        if (wrong.length > 0) throw outputInvalid(wrong);
      }
      return response;
    },
    close: () => foreign.close(),
  };
}

function checksOf(fn: ToolFunction): Checks {
  return {
    input: createValidator(fn.inputSchema),
    output: fn.outputSchema && createValidator(fn.outputSchema),
    fromConfig: (fn.action?.parameters ?? []).flatMap((parameter) =>
      parameter.defaultFromConfig === undefined
        ? []
        : [[parameter.name, parameter.defaultFromConfig] as const],
    ),
    declaresBusinessId: declaresBusinessId(fn),
  };
}

/** The arguments, perhaps without the nulls that a provider's strict mode puts where an argument is left out. */
function fitting(args: JsonObject, call: ToolCall, fn: ToolFunction, checks: Checks): JsonObject {
  const violations = checks.input.validate(args);
  if (violations.length === 0) return args;
  const without = prepareArguments(call, dropStandInNulls(call.arguments, fn.inputSchema), checks);
  if (checks.input.validate(without).length > 0) throw mismatch(violations);
  return without;
}

/** Precedence: the argument given, then the agent's config, then the schema's default. The caller's object is not touched. */
function prepareArguments(call: ToolCall, given: JsonObject, checks: Checks): JsonObject {
  let args = ofThisTenant(call, given, checks.declaresBusinessId);
  const defaults = checks.fromConfig.filter(
    ([name, field]) => args[name] === undefined && call.config[field] !== undefined,
  );
  if (checks.input.fillsDefaults) args = structuredClone(args);
  else if (defaults.length > 0) args = { ...args };
  for (const [name, field] of defaults) args[name] = call.config[field] ?? null;
  return args;
}
