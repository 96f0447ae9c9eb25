// Result budgets: a long list is cut at whole items, and the answer says how many were left out and how to get them.
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { childPointer } from '../../lib/json/json-pointer.ts';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { Truncation } from '../../contract/call/tool-response.ts';
import { atOnce } from '../../lib/concurrency/in-slices.ts';
import { isLargeJson, writeLargeJson } from '../../lib/large-json/write-json.ts';
import type { ResultBudget } from '../../contract/tool/tool-spec.ts';

export interface WithinBudget {
  readonly data: JsonValue;
  readonly truncated?: Truncation;
  /** The data as text, where it was cut. */
  readonly dataJson?: string;
}

/** The list of a result: the result itself, or the longest list among its members. */
interface Listing {
  readonly pointer: string;
  readonly items: readonly JsonValue[];
  /** The result with other items in the list's place. */
  with(items: readonly JsonValue[]): JsonValue;
}

/**
 * `data` as far as the budget goes, from the cursor on. Throws ToolFailure OUTPUT_TOO_LARGE where there is nothing
 * to cut at, or one item alone is too large, and VALIDATION for a cursor that is not this call's.
 */
export function withinBudget(...[data, budget, fn, call]: Parameters<typeof cutToBudget>): WithinBudget {
  const { dataJson: _, ...cut } = atOnce(cutToBudget(data, budget, fn, call));
  return cut;
}

/** The same, giving way to others. */
export function* cutToBudget(
  data: JsonValue,
  budget: ResultBudget,
  fn: ToolFunction,
  call: ToolCall,
): Generator<void, WithinBudget> {
  const start = startOf(fn, call);
  const listing = listingOf(data);
  const { maxBytes = Number.POSITIVE_INFINITY, maxItems = Number.POSITIVE_INFINITY } = budget;
  if (listing === undefined) {
    if ((yield* bytesOf(data)) > maxBytes) throw tooLarge(maxBytes);
    return { data };
  }
  const { items, pointer } = listing;
  const around = yield* bytesOf(listing.with([]));
  const kept = yield* countWithin(items, start, maxItems, maxBytes - around);
  if (kept === 0 && start < items.length) throw tooLarge(maxBytes);
  if (start === 0 && kept === items.length) return { data };
  const end = start + kept;
  const omitted = Math.max(0, items.length - end);
  const goesOn = omitted > 0 && fn.spec.metadata.readOnly;
  const cut = listing.with(items.slice(start, end));
  return {
    data: cut,
    dataJson: yield* textOf(cut),
    truncated: { pointer, kept, omitted, ...(goesOn && { cursor: cursorAt(end, call, fn) }) },
  };
}

/** Throws ToolFailure VALIDATION before the tool runs. 0 without a cursor. */
export function startOf(fn: ToolFunction, call: ToolCall): number {
  const { cursor } = call.context;
  if (cursor === undefined) return 0;
  const [start, binding] = cursor.split('.');
  const isOurs = fn.spec.resultBudget !== undefined && fn.spec.metadata.readOnly;
  if (isOurs && /^[1-9]\d{0,8}$/.test(start ?? '') && binding === bindingOf(call, fn)) return Number(start);
  const message = 'context.cursor is not a cursor that this tool gave for these arguments.';
  throw toolFailure('CURSOR_INVALID', message, {
    details: { violations: [{ pointer: '/context/cursor', message: 'was given for another call' }] },
  });
}

function cursorAt(start: number, call: ToolCall, fn: ToolFunction): string {
  return `${start}.${bindingOf(call, fn)}`;
}

/** A cursor is a position and no secret: this only keeps one from being used with other arguments by mistake. */
function bindingOf(call: ToolCall, fn: ToolFunction): string {
  return canonicalHash({ tool: fn.name, arguments: call.request.arguments }).slice(0, 16);
}

function listingOf(data: JsonValue): Listing | undefined {
  if (Array.isArray(data)) return { pointer: '', items: data, with: (items) => [...items] };
  if (!isJsonObject(data)) return undefined;
  let longest: readonly [string, readonly JsonValue[]] | undefined;
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value) && value.length > (longest?.[1].length ?? 0)) longest = [name, value];
  }
  if (longest === undefined) return undefined;
  const [name, items] = longest;
  const pointer = childPointer('', name);
  return { pointer, items, with: (kept) => ({ ...data, [name]: [...kept] }) };
}

function* countWithin(
  items: readonly JsonValue[],
  start: number,
  maxItems: number,
  maxBytes: number,
): Generator<void, number> {
  let bytes = 0;
  let count = 0;
  while (count < maxItems && start + count < items.length) {
    const comma = count > 0 ? 1 : 0;
    bytes += comma + (yield* bytesOf(items[start + count] ?? null));
    if (bytes > maxBytes) break;
    count += 1;
  }
  return count;
}

function* bytesOf(value: JsonValue): Generator<void, number> {
  return Buffer.byteLength(yield* textOf(value));
}

function* textOf(value: JsonValue): Generator<void, string> {
  if (isLargeJson(value)) return yield* writeLargeJson(value);
  yield;
  return JSON.stringify(value);
}

function tooLarge(maxBytes: number): ToolFailure {
  return toolFailure(
    'RESULT_BUDGET',
    `The tool's result cannot be cut to its budget of ${maxBytes} bytes at a whole item.`,
    { details: { max_result_bytes: maxBytes } },
  );
}
