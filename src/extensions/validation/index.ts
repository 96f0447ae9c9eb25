// validation: arguments against the input schema before the tool runs, the result against the output schema after.
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import { dropStandInNulls } from './stand-in-nulls.ts';
import { createValidator, type Validator, type Violation } from '../../lib/json-schema/validator.ts';

const optionsSchema = z.strictObject({
  output: z
    .enum(['enforce', 'off'])
    .default('enforce')
    .describe('Whether results are held to output_schema.'),
});
type ValidationOptions = z.infer<typeof optionsSchema>;

export const validation: ExtensionPlugin<ValidationOptions, object> = {
  name: 'validation',
  summary: 'Holds arguments to the input schema, fills in defaults, and holds results to the output schema.',
  optionsSchema,
  create: () => createValidation(),
};

/** A tool's schemas, compiled at its first call and kept as long as the tool is. */
interface Checks {
  readonly input: Validator;
  readonly output: Validator | undefined;
  /** [parameter, config field] pairs whose default is the agent's config. */
  readonly fromConfig: readonly (readonly [string, string])[];
  readonly declaresBusinessId: boolean;
}

function createValidation(): Extension<ValidationOptions> {
  const known = new WeakMap<ToolFunction, Checks>();
  return {
    stage: 'tool',
    onFailure: 'deny',
    async around(call, next, options) {
      const fn = call.function as ToolFunction;
      let checks = known.get(fn);
      if (checks === undefined) known.set(fn, (checks = checksOf(fn)));
      const args = fitting(prepareArguments(call, call.arguments, checks), call, fn, checks);
      const response = await next(args === call.arguments ? call : { ...call, arguments: args });
      if (
        response.ok &&
        checks.output !== undefined &&
        options.output === 'enforce' &&
        !call.context.dryRun
      ) {
        const wrong = checks.output.validate(response.data);
        if (wrong.length > 0) throw outputInvalid(wrong);
      }
      return response;
    },
  };
}

function checksOf(fn: ToolFunction): Checks {
  const properties = fn.inputSchema['properties'];
  return {
    input: createValidator(fn.inputSchema),
    output: fn.outputSchema && createValidator(fn.outputSchema),
    fromConfig: (fn.action?.parameters ?? []).flatMap((parameter) =>
      parameter.defaultFromConfig === undefined
        ? []
        : [[parameter.name, parameter.defaultFromConfig] as const],
    ),
    declaresBusinessId: typeof properties === 'object' && properties !== null && 'business_id' in properties,
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
  let args = given;
  const { business_id: businessId } = args;
  if (businessId !== undefined) {
    if (businessId !== call.context.tenantId) throw foreignTenant();
    if (!checks.declaresBusinessId) args = without(args, 'business_id');
  }
  const defaults = checks.fromConfig.filter(
    ([name, field]) => args[name] === undefined && call.config[field] !== undefined,
  );
  if (checks.input.fillsDefaults) args = structuredClone(args);
  else if (defaults.length > 0) args = { ...args };
  for (const [name, field] of defaults) args[name] = call.config[field] ?? null;
  return args;
}

function without(args: JsonObject, name: string): JsonObject {
  const rest = { ...args };
  delete rest[name];
  return rest;
}

function foreignTenant(): ToolFailure {
  return new ToolFailure(
    'PERMISSION_DENIED',
    'The business_id argument is not the tenant of this credential.',
    {
      reason: 'TENANT_MISMATCH',
      details: { field: 'business_id' },
    },
  );
}

function mismatch(violations: readonly Violation[]): ToolFailure {
  return new ToolFailure(
    'VALIDATION',
    `The arguments do not fit the tool's input schema: ${sentence(violations)}.`,
    {
      reason: 'SCHEMA_MISMATCH',
      details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
    },
  );
}

function outputInvalid(violations: readonly Violation[]): ToolFailure {
  return new ToolFailure(
    'OUTPUT_INVALID',
    `The tool's result does not fit its output schema: ${sentence(violations)}.`,
    {
      reason: 'SCHEMA_MISMATCH',
      details: { violations: violations.map(({ pointer, message }) => ({ pointer, message })) },
    },
  );
}

function sentence(violations: readonly Violation[]): string {
  const shown = violations.slice(0, 3).map(({ pointer, message }) => `${pointer || 'the whole'} ${message}`);
  const more = violations.length - shown.length;
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
