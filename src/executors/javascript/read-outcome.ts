// What a handler returned or threw, as a result or a failure. Handlers may answer in the envelope themselves.
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { isErrorType } from '../../contract/call/error-types.ts';
import type { Intent } from '../../contract/call/intent.ts';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import { exceptionFailure, ToolFailure, type FailureDetails } from '../../contract/call/tool-failure.ts';
import type { CallScrubber } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';

const UPPER_SNAKE = /^[A-Z][A-Z0-9_]{0,63}$/;
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set(['ok', 'data', 'intents', 'meta']);
/** The worker leaves more than twice as much: see SecretScrubber.cut. */
const MAX_MESSAGE = 500;
const MAX_FIELD = 80;
const MAX_INTENTS = 32;
const MAX_INTENTS_LENGTH = 65_536;

/** Keeps the secrets of the call out of what is cut. */
export type Cutter = Pick<CallScrubber, 'cut'>;

/** An object with a boolean `ok` is an envelope; anything else is the data. Throws ToolFailure. */
export function readReturned(returned: unknown, scrubber: Cutter): ToolResult {
  if (returned === undefined) return { data: null };
  if (!isJsonObject(returned) || typeof returned['ok'] !== 'boolean') return { data: returned as JsonValue };
  if (!returned['ok']) throw failureFrom(returned['error'], returned['error'], scrubber);
  for (const field of Object.keys(returned)) {
    if (!ENVELOPE_FIELDS.has(field))
      throw invalid('ENVELOPE_INVALID', strayField(scrubber.cut(field, MAX_FIELD)));
  }
  const { data, intents } = returned;
  if (intents === undefined || intents === null) return { data: data ?? null };
  return { data: data ?? null, intents: readIntents(intents) };
}

/** An error that names a type of the closed list keeps it; any other is the script's own defect. */
export function failureOfThrown(thrown: unknown, scrubber: Cutter): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  if (typeof thrown === 'object' && thrown !== null && 'type' in thrown && isErrorType(thrown.type)) {
    return failureFrom(thrown, thrown, scrubber);
  }
  return exceptionFailure(thrown instanceof Error ? thrown : `Thrown: ${String(thrown)}`);
}

function failureFrom(error: unknown, cause: unknown, { cut }: Cutter): ToolFailure {
  if (typeof error !== 'object' || error === null) {
    return new ToolFailure('PERMANENT', 'The tool failed and did not say why.', { origin: 'tool', cause });
  }
  // Fields are read one by one: a thrown Error is no plain object.
  const fields = error as { readonly [field: string]: unknown };
  const type = fields['type'];
  const said =
    typeof fields['message'] === 'string' ? fields['message'] : 'The tool failed and did not say why.';
  const message = cut(said, MAX_MESSAGE);
  const extra = detailsFrom(fields, cause);
  if (isErrorType(type)) return new ToolFailure(type, message, extra);
  const reason = upperSnake(fields['reason']) ?? upperSnake(type);
  return new ToolFailure('PERMANENT', message, {
    ...extra,
    ...(reason === undefined ? {} : { reason }),
  });
}

function detailsFrom(fields: { readonly [field: string]: unknown }, cause: unknown): FailureDetails {
  const reason = upperSnake(fields['reason']);
  const retryable = fields['retryable'];
  const partialSideEffects = fields['partialSideEffects'] ?? fields['partial_side_effects'];
  const retryAfterMs = fields['retryAfterMs'] ?? fields['retry_after_ms'];
  const details = plainJson(fields['details']);
  return {
    origin: 'tool',
    cause,
    ...(reason === undefined ? {} : { reason }),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof partialSideEffects === 'boolean' ? { partialSideEffects } : {}),
    ...(typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { retryAfterMs } : {}),
    ...(isJsonObject(details) ? { details } : {}),
  };
}

function readIntents(intents: JsonValue): readonly Intent[] {
  const plain = plainJson(intents);
  if (!Array.isArray(plain) || plain.length > MAX_INTENTS) {
    throw invalid('INTENTS_INVALID', `intents must be an array of at most ${MAX_INTENTS} JSON objects`);
  }
  for (const intent of plain) {
    if (!isJsonObject(intent) || upperSnake(intent['type']) === undefined) {
      throw invalid('INTENTS_INVALID', 'every intent must be an object whose type is an UPPER_SNAKE word');
    }
  }
  return plain as readonly Intent[];
}

/** A copy as JSON would carry it; undefined for what JSON cannot, or for more than an answer should hold. */
function plainJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined || text.length > MAX_INTENTS_LENGTH ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function strayField(field: string): string {
  return `an object with a boolean "ok" is an envelope and may hold data, intents and meta; found "${field}"`;
}

function invalid(reason: Reason, what: string): ToolFailure {
  return new ToolFailure('OUTPUT_INVALID', `The tool's handler returned an invalid result: ${what}.`, {
    reason,
  });
}

function upperSnake(word: unknown): string | undefined {
  return typeof word === 'string' && UPPER_SNAKE.test(word) ? word : undefined;
}
