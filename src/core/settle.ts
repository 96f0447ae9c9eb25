// Settles a call: turns a result or anything thrown into the envelope. The only place where a result becomes an envelope.
import type { KeptCall } from '../contract/call/admission.ts';
import type { ErrorType } from '../contract/call/error-types.ts';
import type { Intent } from '../contract/call/intent.ts';
import type { JsonValue } from '../contract/json.ts';
import { metaOf } from '../contract/call/make-response.ts';
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResult, ToolSuccess, Truncation } from '../contract/call/tool-response.ts';
import { provesNotStarted } from './resilience/retry-policy.ts';
import { inSlices, isLarge, yieldToLoop } from '../lib/concurrency/in-slices.ts';
import { parseOwn } from '../lib/large-json/parse-json.ts';
import { isLargeJson, writeLargeJson } from '../lib/large-json/write-json.ts';
import { writeJson } from '../lib/json/write-json.ts';

const NO_INTENTS: readonly Intent[] = [];

/**
 * Encodes the result once and bounds it; only for data that came out of a JSON parser. Throws ToolFailure
 * OUTPUT_INVALID (not JSON) or OUTPUT_TOO_LARGE.
 */
export function successOf(call: ToolCall, result: ToolResult, maxBytes: number): ToolSuccess {
  return success(call, result, maxBytes, encode(result.data, JSON.stringify));
}

/** The same, in slices for what takes long. */
export function plainSuccessOf(
  call: ToolCall,
  result: ToolResult,
  maxBytes: number,
): ToolSuccess | Promise<ToolSuccess> {
  return isLargeJson(result.data)
    ? largeSuccessOf(call, result, maxBytes)
    : successOf(call, result, maxBytes);
}

async function largeSuccessOf(call: ToolCall, result: ToolResult, maxBytes: number): Promise<ToolSuccess> {
  return success(call, result, maxBytes, await inSlices(writeLargeJson(result.data)));
}

/**
 * The same for anything else: it is read back from its own text, so that what extensions see is what callers get (a Date
 * is a string, an undefined field is absent). What is large is written in one go, and read in slices.
 */
export async function foreignSuccessOf(
  call: ToolCall,
  result: ToolResult,
  maxBytes: number,
): Promise<ToolSuccess> {
  const dataJson = encode(result.data, writeJson);
  const bounded = success(call, result, maxBytes, dataJson);
  if (isLarge(dataJson)) await yieldToLoop();
  return { ...bounded, data: await parseOwn(dataJson) };
}

function success(
  call: ToolCall,
  { data, intents = NO_INTENTS }: ToolResult,
  maxBytes: number,
  dataJson: string,
): ToolSuccess {
  if (dataJson.length > maxBytes || Buffer.byteLength(dataJson) > maxBytes) {
    throw new ToolFailure(
      'OUTPUT_TOO_LARGE',
      `The tool's result is larger than the limit of ${maxBytes} bytes.`,
    );
  }
  return {
    ok: true,
    data,
    dataJson,
    intents,
    meta: metaOf(call),
    rateLimits: call.progress.rateLimits,
  };
}

/** Of a call that runs later. */
export function acceptedOf(call: ToolCall, { at, approvalEndsAt }: KeptCall): ToolSuccess {
  const { awaited } = call.progress;
  const approval = awaited && {
    id: awaited.id,
    expiresAt: new Date(approvalEndsAt ?? awaited.expiresAt).toISOString(),
  };
  return {
    ok: true,
    data: null,
    dataJson: 'null',
    intents: NO_INTENTS,
    meta: { ...metaOf(call), acceptedAt: at, ...(approval && { awaited: approval }) },
    rateLimits: call.progress.rateLimits,
  };
}

/** The same success with less of its data, and a note of what is missing. */
export function shortened(
  whole: ToolSuccess,
  data: JsonValue,
  truncated: Truncation,
  dataJson = JSON.stringify(data),
): ToolSuccess {
  return { ...whole, data, dataJson, meta: { ...whole.meta, truncated } };
}

function encode(data: unknown, write: (data: unknown) => string | undefined): string {
  try {
    return write(data) ?? 'null';
  } catch (cause) {
    throw toolFailure('NOT_JSON', "The tool's result cannot be written as JSON.", { cause });
  }
}

/** Anything that is not a ToolFailure is a defect: INTERNAL outside, the cause for the log inside. */
export function refusalOf(call: ToolCall, thrown: unknown): ToolRefusal {
  const failure =
    thrown instanceof ToolFailure
      ? thrown
      : new ToolFailure('INTERNAL', 'The gateway failed to run this call.', { cause: thrown });
  return {
    ok: false,
    error: {
      type: failure.type,
      message: failure.message,
      retryable: retryable(call, failure),
      partialSideEffects: sideEffectsPossible(call, failure, thrown),
      origin: failure.origin,
      reason: failure.reason,
      retryAfterMs: failure.retryAfterMs ?? null,
      details: failure.details,
    },
    meta: metaOf(call),
    rateLimits: call.progress.rateLimits,
    cause: failure.cause,
  };
}

/** Unavailability before the executor was entered can always be tried again; after it, only what may run twice. */
const REPEAT_IF_IDEMPOTENT: ReadonlySet<ErrorType> = new Set(['TIMEOUT', 'UNAVAILABLE']);

function retryable(call: ToolCall, failure: ToolFailure): boolean {
  const metadata = call.function?.spec.metadata;
  // Known not to have run: trying again can do no harm.
  if (failure.partialSideEffects === false) return failure.retryable;
  if (!REPEAT_IF_IDEMPOTENT.has(failure.type) || failure.origin === 'tool' || metadata === undefined) {
    return failure.retryable;
  }
  if (!call.progress.executorEntered) return failure.retryable || failure.type === 'TIMEOUT';
  return metadata.idempotent || metadata.readOnly;
}

/** What the last attempt knows of itself says nothing of those before it. */
function sideEffectsPossible(
  { progress, function: fn }: ToolCall,
  failure: ToolFailure,
  thrown: unknown,
): boolean {
  if (failure.partialSideEffects === true) return true;
  if (!progress.executorEntered) return false;
  if (thrown !== failure) return true;
  if (fn?.spec.metadata.readOnly === true) return false;
  if (progress.mayHaveRun === true) return true;
  return failure.partialSideEffects ?? !provesNotStarted(failure);
}
