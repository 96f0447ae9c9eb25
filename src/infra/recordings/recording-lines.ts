// The lines of a recording's file: a head, one line per call, an end. Written here, and read back with nothing taken on trust.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { ERROR_TYPES, isErrorType } from '../../contract/call/error-types.ts';
import type { Intent } from '../../contract/call/intent.ts';
import type { ToolError, Truncation } from '../../contract/call/tool-response.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import {
  RECORDING_ENDS,
  type RecordedCall,
  type RecordedOutcome,
  type RecordingEnd,
} from '../../ports/recordings.ts';

const FORMAT_VERSION = 1;

export interface RecordingHead {
  readonly name: string;
  readonly startedAt: string;
  /** Which key sealed its sensitive values. */
  readonly sealId: string;
  readonly tenantId?: string;
  readonly sessionId?: string;
  readonly tools?: readonly string[];
}

export interface RecordingTail {
  readonly ended: RecordingEnd;
  readonly calls: number;
  readonly missed: number;
}

export function headLine(head: RecordingHead): string {
  return line({
    ute_recording: FORMAT_VERSION,
    name: head.name,
    started_at: head.startedAt,
    seal_id: head.sealId,
    tenant_id: head.tenantId,
    session_id: head.sessionId,
    tools: head.tools,
  });
}

/** The data is pasted as the text that it is. */
export function callLine(call: RecordedCall): string {
  const { outcome } = call;
  const before = JSON.stringify({
    order: call.order,
    at: call.at,
    tool: call.tool,
    tool_version: call.toolVersion,
    definition_hash: call.definitionHash,
    arguments: call.arguments,
    arguments_hash: call.argumentsHash,
    cursor: call.cursor,
    duration_ms: call.durationMs,
    ok: outcome.ok,
  }).slice(0, -1);
  if (!outcome.ok) return `${before},"error":${JSON.stringify(wireError(outcome.error))}}\n`;
  const truncated =
    outcome.truncated === undefined ? '' : `,"truncated":${JSON.stringify(outcome.truncated)}`;
  return `${before},"data":${outcome.dataJson},"intents":${JSON.stringify(outcome.intents)}${truncated}}\n`;
}

export function tailLine({ ended, calls, missed }: RecordingTail): string {
  return line({ ended, calls, missed });
}

/** Each reader throws Error with the field, what was expected and what was found. */
export function readHead(value: unknown): RecordingHead {
  if (!isJsonObject(value) || value['ute_recording'] === undefined)
    throw new Error('is not the first line of a recording: it has no "ute_recording"');
  const version = value['ute_recording'];
  if (version !== FORMAT_VERSION)
    throw new Error(
      `ute_recording: expected ${FORMAT_VERSION}, the version this gateway reads, found ${shown(version)}`,
    );
  const { tools } = value;
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((each) => typeof each === 'string')))
    throw new Error(`tools: expected a list of texts, found ${shown(tools)}`);
  return {
    name: textAt(value, 'name'),
    startedAt: textAt(value, 'started_at'),
    sealId: textAt(value, 'seal_id'),
    ...(value['tenant_id'] !== undefined && { tenantId: textAt(value, 'tenant_id') }),
    ...(value['session_id'] !== undefined && { sessionId: textAt(value, 'session_id') }),
    ...(tools !== undefined && { tools }),
  };
}

export function isTail(value: unknown): value is JsonObject {
  return isJsonObject(value) && value['ended'] !== undefined;
}

export function readTail(value: JsonObject): RecordingTail {
  const ended = RECORDING_ENDS.find((each) => each === value['ended']);
  if (ended === undefined)
    throw new Error(`ended: expected one of ${RECORDING_ENDS.join(', ')}, found ${shown(value['ended'])}`);
  return { ended, calls: countAt(value, 'calls', 0), missed: countAt(value, 'missed', 0) };
}

export function readCall(value: unknown): RecordedCall {
  if (!isJsonObject(value)) throw new Error(`expected an object, found ${shown(value)}`);
  const args = value['arguments'];
  if (!isJsonObject(args)) throw new Error(`arguments: expected an object, found ${shown(args)}`);
  const argumentsHash = textAt(value, 'arguments_hash');
  if (hashOf(args) !== argumentsHash)
    throw new Error(
      'arguments_hash: expected the sha256 of the canonical arguments of this line, found another',
    );
  return {
    order: countAt(value, 'order', 1),
    at: textAt(value, 'at'),
    tool: textAt(value, 'tool'),
    toolVersion: textAt(value, 'tool_version'),
    definitionHash: textAt(value, 'definition_hash'),
    arguments: args,
    argumentsHash,
    ...(value['cursor'] !== undefined && { cursor: textAt(value, 'cursor') }),
    durationMs: numberAt(value, 'duration_ms'),
    outcome: readOutcome(value),
  };
}

function hashOf(args: JsonObject): string {
  try {
    return canonicalHash(args);
  } catch {
    throw new Error(
      'arguments: expected what canonical JSON can say, found a lone surrogate or too deep a nesting',
    );
  }
}

function readOutcome(value: JsonObject): RecordedOutcome {
  const { ok, data, intents, truncated } = value;
  if (ok === false) return { ok, error: readError(value['error']) };
  if (ok !== true) throw new Error(`ok: expected true or false, found ${shown(ok)}`);
  if (data === undefined) throw new Error('data: expected the answer of a call that is ok, found nothing');
  if (!Array.isArray(intents) || !intents.every(isIntent))
    throw new Error(`intents: expected a list of intents, found ${shown(intents)}`);
  return {
    ok,
    dataJson: JSON.stringify(data),
    intents,
    ...(truncated !== undefined && { truncated: readTruncation(truncated) }),
  };
}

function isIntent(value: JsonValue): value is Intent & { [field: string]: JsonValue } {
  return isJsonObject(value) && typeof value['type'] === 'string';
}

function readTruncation(value: JsonValue): Truncation {
  if (!isJsonObject(value)) throw new Error(`truncated: expected an object, found ${shown(value)}`);
  return {
    pointer: textAt(value, 'pointer'),
    kept: countAt(value, 'kept', 0),
    omitted: countAt(value, 'omitted', 0),
    ...(value['cursor'] !== undefined && { cursor: textAt(value, 'cursor') }),
  };
}

const ORIGINS = ['caller', 'gateway', 'tool'] as const;

function readError(value: JsonValue | undefined): ToolError {
  if (!isJsonObject(value)) throw new Error(`error: expected an object, found ${shown(value)}`);
  const { type, details, retry_after_ms: retryAfterMs } = value;
  if (!isErrorType(type))
    throw new Error(
      `error.type: expected one of ${Object.keys(ERROR_TYPES).join(', ')}, found ${shown(type)}`,
    );
  const origin = ORIGINS.find((each) => each === value['origin']);
  if (origin === undefined)
    throw new Error(`error.origin: expected one of ${ORIGINS.join(', ')}, found ${shown(value['origin'])}`);
  if (!isJsonObject(details)) throw new Error(`error.details: expected an object, found ${shown(details)}`);
  if (retryAfterMs !== null && typeof retryAfterMs !== 'number')
    throw new Error(`error.retry_after_ms: expected a number or null, found ${shown(retryAfterMs)}`);
  return {
    type,
    message: textAt(value, 'message'),
    retryable: truthAt(value, 'retryable'),
    partialSideEffects: truthAt(value, 'partial_side_effects'),
    origin,
    reason: textAt(value, 'reason'),
    retryAfterMs,
    details,
  };
}

function wireError(error: ToolError): JsonObject {
  const { type, message, retryable, origin, reason, details } = error;
  const { partialSideEffects: partial_side_effects, retryAfterMs: retry_after_ms } = error;
  return { type, message, retryable, partial_side_effects, origin, reason, retry_after_ms, details };
}

function textAt(value: JsonObject, field: string): string {
  const found = value[field];
  if (typeof found === 'string') return found;
  throw new Error(`${field}: expected a text, found ${shown(found)}`);
}

function truthAt(value: JsonObject, field: string): boolean {
  const found = value[field];
  if (typeof found === 'boolean') return found;
  throw new Error(`${field}: expected true or false, found ${shown(found)}`);
}

function numberAt(value: JsonObject, field: string): number {
  const found = value[field];
  if (typeof found === 'number') return found;
  throw new Error(`${field}: expected a number, found ${shown(found)}`);
}

function countAt(value: JsonObject, field: string, least: number): number {
  const found = value[field];
  if (typeof found === 'number' && Number.isSafeInteger(found) && found >= least) return found;
  throw new Error(`${field}: expected a whole number of at least ${least}, found ${shown(found)}`);
}

/** What was found, in a word or a short text: a hostile file is not quoted at length. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'a list' : 'an object';
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
