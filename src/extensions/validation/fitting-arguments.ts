// The arguments as the tool gets them: of this tenant, with defaults, without what stands in for something left out.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { LargeIntegers, ToolCall } from '../../contract/call/tool-call.ts';
import { ForeignCheckError } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import { countTokens } from '../../lib/json-schema/lint/schema-size.ts';
import { dropStandInNulls } from '../../lib/json-schema/stand-in-nulls.ts';
import { ofThisTenant } from './business-id.ts';
import { mismatch, notInt64, unchecked } from './failures.ts';
import type { Checks } from './tool-checks.ts';

/**
 * Precedence: the argument given, then the agent's config, then the schema's default. The caller's object is not
 * touched. At once where that is quick, as it nearly always is; later where the event loop would be held.
 */
export function fittingArguments(call: ToolCall, checks: Checks): JsonObject | Promise<JsonObject> {
  const named = checks.ownNames?.(call.arguments);
  const args = named === undefined ? call.arguments : (named.args as JsonObject);
  const { largeIntegers = [] } = call;
  refuseUnexpectedIntegers(
    args,
    named === undefined ? largeIntegers : largeIntegers.map(named.pointer),
    checks,
  );
  const given = ofThisTenant(call, args, checks.declaresBusinessId);
  return fittingHere(call, given, checks) ?? fittingInThread(call, given, checks);
}

/** Elsewhere it would turn from a number into text, and nobody would know. */
function refuseUnexpectedIntegers(
  args: JsonObject,
  largeIntegers: LargeIntegers,
  { integers }: Checks,
): void {
  if (largeIntegers.length === 0) return;
  const expected = new Set(integers?.textsIn(args).map(({ pointer }) => pointer()));
  const misplaced = largeIntegers.filter((pointer) => !expected.has(pointer));
  if (misplaced.length > 0) throw notInt64(misplaced);
}

function withConfig({ config }: ToolCall, given: JsonObject, { fromConfig }: Checks): JsonObject {
  const defaults = fromConfig.filter(
    ([name, field]) => given[name] === undefined && config[field] !== undefined,
  );
  if (defaults.length === 0) return given;
  return { ...given, ...Object.fromEntries(defaults.map(([name, field]) => [name, config[field] ?? null])) };
}

/** Undefined: to be checked in a thread. */
function fittingHere(call: ToolCall, given: JsonObject, checks: Checks): JsonObject | undefined {
  const { here } = checks.input;
  if (here === undefined) return undefined;
  const args = withConfig(call, given, checks);
  const tried = here.changesValue ? copyOf(args) : args;
  const violations = here.validateHere(tried);
  if (violations === undefined) return undefined;
  if (violations.length === 0) return tried;
  // A provider's strict mode has no absent argument, only null.
  if (!holdsNull(given)) throw mismatch(violations);
  if (countTokens(given, MANY_PARTS) >= MANY_PARTS) return undefined;
  const nullsGone = dropStandInNulls(given, checks.fn.inputSchema);
  if (nullsGone === given) throw mismatch(violations);
  const without = copyOf(withConfig(call, nullsGone, checks));
  if (here.validateHere(without)?.length === 0) return without;
  throw mismatch(violations);
}

/** Looking for what a null stands for takes a microsecond for each part: that many are looked through in a thread. */
const MANY_PARTS = 2_000;

function holdsNull(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return value === null;
  if (Array.isArray(value)) return value.some(holdsNull);
  for (const name in value) if (holdsNull(value[name] ?? null)) return true;
  return false;
}

/** Several times as fast as structuredClone, and arguments are JSON. */
function copyOf(args: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(args)) as JsonObject;
}

async function fittingInThread(call: ToolCall, given: JsonObject, checks: Checks): Promise<JsonObject> {
  const { inThread } = checks.input;
  const args = withConfig(call, given, checks);
  try {
    const first = await inThread.validate(JSON.stringify(args), call.signal);
    if (first.violations.length === 0) return filledOr(args, first.filled);
    if (!holdsNull(given)) throw mismatch(first.violations);
    const nullsGone = await inThread.withoutStandIns(JSON.stringify(given), call.signal);
    if (nullsGone === undefined) throw mismatch(first.violations);
    const without = withConfig(call, JSON.parse(nullsGone) as JsonObject, checks);
    const second = await inThread.validate(JSON.stringify(without), call.signal);
    if (second.violations.length > 0) throw mismatch(first.violations);
    return filledOr(without, second.filled);
  } catch (error) {
    throw error instanceof ForeignCheckError ? unchecked(error) : error;
  }
}

function filledOr(args: JsonObject, filled: string | undefined): JsonObject {
  return filled === undefined ? args : (JSON.parse(filled) as JsonObject);
}
