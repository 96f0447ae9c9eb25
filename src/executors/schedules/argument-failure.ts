// What the gateway says of a schedule, as the tool's caller knows it: by the names of the tool's arguments.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';

export function wrongArgument(pointer: string, message: string): ToolFailure {
  return new ToolFailure('VALIDATION', `${pointer} ${message}.`, {
    reason: 'SCHEMA_MISMATCH',
    origin: 'tool',
    partialSideEffects: false,
    details: { violations: [{ pointer, message }] },
  });
}

/** Where the tool's own caller said it. */
export interface Places {
  /** The argument that says when. */
  readonly when: string;
  /** Pointer to what the arguments of the call to be made are of. */
  readonly data?: string;
  /** What the task is to call: its refusal is not that of the tool that makes the task. */
  readonly tool?: string;
}

/** Runs what makes or changes a schedule. What it fails with is the tool's word, and nothing was done. */
export async function inItsWords<T>(places: Places, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ToolFailure ? reworded(error, places) : error;
  }
}

/** One that has to be approved stays what it is: its caller comes back with the token. */
const NOT_THE_TOOLS = ['CONFIRMATION_REQUIRED', 'UNAVAILABLE', 'TIMEOUT', 'CANCELLED'];

function reworded(failure: ToolFailure, places: Places): ToolFailure {
  const { type, reason, retryable, retryAfterMs, details, message, cause } = failure;
  const { when, tool } = places;
  const isOfTool = tool !== undefined && type === 'PERMISSION_DENIED';
  const words = isOfTool
    ? `The task is to call "${tool}": ${message}`
    : message.replace(/^\/schedule(?=[ /])/, `/${when}`);
  return new ToolFailure(type, words, {
    reason,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(!NOT_THE_TOOLS.includes(type) && { origin: 'tool' as const }),
    partialSideEffects: failure.partialSideEffects ?? false,
    details: { ...details, ...violationsOf(failure, places), ...(isOfTool && { tool }) },
    cause,
  });
}

/** Those of the call to be made are of its arguments, all others of the schedule. */
function violationsOf(
  { reason, details: { violations } }: ToolFailure,
  { when, data = '/execution_data' }: Places,
): JsonObject {
  if (!Array.isArray(violations)) return {};
  const renamed = violations.map((each) => {
    const pointer = isJsonObject(each) ? each['pointer'] : undefined;
    if (!isJsonObject(each) || typeof pointer !== 'string') return each;
    const isInData = reason === 'SCHEMA_MISMATCH';
    return { ...each, pointer: isInData ? data + pointer : pointer.replace(/^\/schedule$/, `/${when}`) };
  });
  return { violations: renamed };
}
