// The checks of tools whose schemas somebody else wrote: the same as for any tool, but in a thread, within bounds of time and memory.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { Next } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/tool-call.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool-function.ts';
import type { ToolResponse } from '../../contract/tool-response.ts';
import { fromPointer } from '../../lib/json-pointer.ts';
import {
  ForeignCheckError,
  ForeignSchemas,
  type ForeignLimits,
  type ForeignValidator,
} from '../../lib/json-schema/foreign-schemas.ts';
import type { Violation } from '../../lib/json-schema/violation.ts';
import type { Clock } from '../../ports/clock.ts';
import { declaresBusinessId, ofThisTenant } from './business-id.ts';
import { mismatch, outputInvalid } from './failures.ts';

interface Checks {
  readonly input: ForeignValidator;
  readonly output: ForeignValidator | undefined;
  readonly declaresBusinessId: boolean;
}

export class ForeignChecks {
  readonly #schemas: ForeignSchemas;
  readonly #known = new WeakMap<ToolFunction, Checks>();

  /** Nothing is started before the first call of such a tool. */
  constructor(clock: Clock, limits: Partial<ForeignLimits> = {}) {
    this.#schemas = new ForeignSchemas((ms, task) => clock.after(ms, task), limits);
  }

  async around(call: ToolCall, next: Next, output: 'enforce' | 'off'): Promise<ToolResponse> {
    const fn = call.function as ToolFunction;
    let checks = this.#known.get(fn);
    if (checks === undefined) this.#known.set(fn, (checks = this.#checksOf(fn)));
    const args = await fitting(call, checks);
    const response = await next(args === call.arguments ? call : { ...call, arguments: args });
    // Nothing has run where the call is a rehearsal, or only accepted.
    const hasRun = call.context.dryRun !== true && response.meta.acceptedAt === undefined;
    if (response.ok && checks.output !== undefined && output === 'enforce' && hasRun)
      await refuseWrongResult(checks.output, response.dataJson, call.signal);
    return response;
  }

  close(): Promise<void> {
    return this.#schemas.close();
  }

  #checksOf(fn: ToolFunction): Checks {
    return {
      input: this.#schemas.validatorOf(fn.inputSchema),
      output: fn.outputSchema && this.#schemas.validatorOf(fn.outputSchema),
      declaresBusinessId: declaresBusinessId(fn),
    };
  }
}

/** The arguments with defaults, perhaps without the nulls that a provider's strict mode puts where one is left out. */
async function fitting(
  call: ToolCall,
  { input, declaresBusinessId: isDeclared }: Checks,
): Promise<JsonObject> {
  const args = ofThisTenant(call, call.arguments, isDeclared);
  try {
    const first = await input.validate(JSON.stringify(args), call.signal);
    if (first.violations.length === 0) return filledOr(args, first.filled);
    const without = withoutNullsAt(args, first.violations);
    const second = without && (await input.validate(JSON.stringify(without), call.signal));
    if (without === undefined || second?.violations.length !== 0) throw mismatch(first.violations);
    return filledOr(without, second.filled);
  } catch (error) {
    throw error instanceof ForeignCheckError ? unchecked(error) : error;
  }
}

function filledOr(args: JsonObject, filled: string | undefined): JsonObject {
  return filled === undefined ? args : (JSON.parse(filled) as JsonObject);
}

/** Undefined where none of the violations is about a null. One that is required is missed by the next check. */
function withoutNullsAt(args: JsonObject, violations: readonly Violation[]): JsonObject | undefined {
  const copy = structuredClone(args);
  const dropped = violations.filter(({ pointer }) => dropNull(copy, fromPointer(pointer)));
  return dropped.length > 0 ? copy : undefined;
}

function dropNull(root: JsonObject, path: readonly string[]): boolean {
  let at: JsonValue | undefined = root;
  for (const step of path.slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as JsonObject)[step];
  }
  const last = path.at(-1);
  if (last === undefined || !isJsonObject(at) || at[last] !== null) return false;
  delete at[last];
  return true;
}

async function refuseWrongResult(output: ForeignValidator, json: string, signal: AbortSignal): Promise<void> {
  let violations: readonly Violation[];
  try {
    ({ violations } = await output.validate(json, signal));
  } catch (error) {
    if (!(error instanceof ForeignCheckError)) throw error;
    const message =
      "The tool's result could not be held to its output schema within the limits of time and memory.";
    throw new ToolFailure('OUTPUT_INVALID', message, { reason: 'SCHEMA_CHECK_FAILED', cause: error });
  }
  if (violations.length > 0) throw outputInvalid(violations);
}

function unchecked(error: ForeignCheckError): ToolFailure {
  if (error.why === 'busy') {
    const message = 'Too many calls wait for their arguments to be checked.';
    return new ToolFailure('UNAVAILABLE', message, {
      reason: 'VALIDATION_BUSY',
      retryAfterMs: 1_000,
      cause: error,
    });
  }
  const message =
    "The arguments could not be held to the tool's input schema within the limits of time and memory.";
  return new ToolFailure('UNAVAILABLE', message, {
    reason: 'SCHEMA_CHECK_FAILED',
    retryable: false,
    cause: error,
  });
}
