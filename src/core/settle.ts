// Settles a call: turns a result or anything thrown into the envelope. The only place where a result becomes an envelope.
import type { ErrorType } from '../contract/call/error-types.ts';
import type { Intent } from '../contract/call/intent.ts';
import type { JsonValue } from '../contract/json.ts';
import { metaOf } from '../contract/call/make-response.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolRefusal, ToolResult, ToolSuccess, Truncation } from '../contract/call/tool-response.ts';
import { inSlices } from '../lib/concurrency/in-slices.ts';
import { writeLargeJson } from '../lib/large-json/write-json.ts';
import { writeJson } from '../lib/json/write-json.ts';

const NO_INTENTS: readonly Intent[] = [];

/**
 * Encodes the result once and bounds it. Throws ToolFailure OUTPUT_INVALID (not JSON) or OUTPUT_TOO_LARGE.
 * `plain` says that the data came out of a JSON parser; anything else is read back from its own text, so
 * that what extensions see is what callers get (a Date is a string, an undefined field is absent).
 */
export function successOf(call: ToolCall, result: ToolResult, maxBytes: number, plain: boolean): ToolSuccess {
  const dataJson = encode(result.data, plain ? JSON.stringify : writeJson);
  const data = (): JsonValue => (plain ? result.data : (JSON.parse(dataJson) as JsonValue));
  return success(call, result, maxBytes, dataJson, data);
}

/** The same, in slices for what takes long; only for data that came out of a JSON parser. */
export async function largeSuccessOf(
  call: ToolCall,
  result: ToolResult,
  maxBytes: number,
): Promise<ToolSuccess> {
  const dataJson = await inSlices(writeLargeJson(result.data));
  return success(call, result, maxBytes, dataJson, () => result.data);
}

function success(
  call: ToolCall,
  { intents = NO_INTENTS }: ToolResult,
  maxBytes: number,
  dataJson: string,
  data: () => JsonValue,
): ToolSuccess {
  if (dataJson.length > maxBytes || Buffer.byteLength(dataJson) > maxBytes) {
    throw new ToolFailure(
      'OUTPUT_TOO_LARGE',
      `The tool's result is larger than the limit of ${maxBytes} bytes.`,
    );
  }
  return {
    ok: true,
    data: data(),
    dataJson,
    intents,
    meta: metaOf(call),
    rateLimits: call.progress.rateLimits,
  };
}

/** Of a call that runs later; `at` tells where its end will be found. */
export function acceptedOf(call: ToolCall, at: string): ToolSuccess {
  return {
    ok: true,
    data: null,
    dataJson: 'null',
    intents: NO_INTENTS,
    meta: { ...metaOf(call), acceptedAt: at },
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
    throw new ToolFailure('OUTPUT_INVALID', "The tool's result cannot be written as JSON.", {
      reason: 'NOT_JSON',
      cause,
    });
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
      partialSideEffects: failure.partialSideEffects ?? sideEffectsPossible(call, thrown),
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

function sideEffectsPossible(call: ToolCall, thrown: unknown): boolean {
  if (!call.progress.executorEntered) return false;
  return thrown instanceof ToolFailure ? !(call.function?.spec.metadata.readOnly ?? false) : true;
}
