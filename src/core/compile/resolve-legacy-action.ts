// The legacy form `execute(action, details)`: turned into the call of the typed action before anything is decided about it.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { LargeIntegers, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../../lib/json/strict-json.ts';

const KNOWN: ReadonlySet<string> = new Set(['action', 'details', 'business_id']);

/**
 * From here on it is a call of the action: permissions, validation, approval, limits and the executor see no other.
 * Throws ToolFailure VALIDATION.
 */
export function resolveLegacyAction(
  call: ToolCall,
  byAction: ReadonlyMap<string, ToolFunction>,
): ToolCall & { readonly function: ToolFunction } {
  const { action, details, business_id: businessId } = call.arguments;
  const stray = Object.keys(call.arguments).find((key) => !KNOWN.has(key));
  if (stray !== undefined)
    throw misfit(`/${stray.slice(0, 64)}`, 'is unknown: the arguments of the action belong into details');
  const fn = typeof action === 'string' ? byAction.get(action) : undefined;
  if (fn === undefined)
    throw misfit('/action', `must be one of ${[...byAction.keys()].join(', ')}`, 'UNKNOWN_ACTION');
  call.progress.successor = fn.name;
  const { own, largeIntegers = rebased(call.largeIntegers) } = argumentsOf(details);
  const args = { ...own, ...(businessId !== undefined && { business_id: businessId }) };
  return { ...call, function: fn, arguments: args, largeIntegers };
}

/** What was inside of details is an argument of its own. */
function rebased(largeIntegers: LargeIntegers = []): LargeIntegers {
  return largeIntegers.map((pointer) =>
    pointer.startsWith(DETAILS) ? pointer.slice(DETAILS.length - 1) : pointer,
  );
}

const DETAILS = '/details/';

interface ActionArguments {
  readonly own: JsonObject;
  /** Where the arguments were text: what that text held. */
  readonly largeIntegers?: LargeIntegers;
}

/** Older callers had one string for everything. */
function argumentsOf(details: JsonValue | undefined): ActionArguments {
  if (details === undefined || details === null || details === '') return { own: {} };
  if (isJsonObject(details)) return { own: details };
  if (typeof details !== 'string') throw misfit('/details', 'must be an object, or the JSON text of one');
  try {
    const { value, largeIntegers } = parseWithLargeIntegers(details);
    if (isJsonObject(value)) return { own: value, largeIntegers };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw misfit('/details', `must be the JSON text of an object: ${error.message}`);
  }
  throw misfit('/details', 'must be the JSON text of an object');
}

function misfit(pointer: string, message: string, reason: Reason = 'SCHEMA_MISMATCH'): ToolFailure {
  return new ToolFailure('VALIDATION', `The arguments do not fit the tool: ${pointer} ${message}.`, {
    reason,
    details: { violations: [{ pointer, message }] },
  });
}
