// Turns a refusal into a gRPC status whose trailer grpc-status-details-bin holds google.rpc details.
import { Metadata } from '@grpc/grpc-js';
import { Logger } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { errorRow } from '../../contract/call/error-row.ts';
import type { ErrorType } from '../../contract/call/error-types.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ResponseMeta, ToolError } from '../../contract/call/tool-response.ts';
import { encodeStruct, StructError } from './struct/struct-codec.ts';
import { encodeDetail, encodeStatus } from './wire-types.ts';

const ERROR_DOMAIN = 'unified-tool-executor';

/** Many clients refuse trailers above 8 kB, and the message is in them twice, once percent-encoded. */
const MAX_MESSAGE_CHARS = 300;
const MAX_TEXT_CHARS = 200;
const MAX_VIOLATION_BYTES = 2000;
/** Of the trailers of a status that has details; what is not theirs takes the rest of the 8 kB. */
const MAX_TRAILER_CHARS = 7_600;
const MAX_DETAILS_BYTES = 2_000;
/** The type's name and the lengths around a detail. */
const AROUND_BYTES = 64;

/** Which call it was, and whether its idempotency key holds this outcome: then it ran, or had run before. */
type CallNames = Pick<ResponseMeta, 'callId' | 'tool'> & Partial<Pick<ResponseMeta, 'attempts' | 'replayed'>>;
const NO_CALL: CallNames = { callId: '', tool: '' };
/** A google.protobuf.Any, with the field names of protobufjs' own copy of it. */
type Detail = { readonly type_url: string; readonly value: Uint8Array };

/** What grpc-js makes a call's status of. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The gRPC status code of an error; 0 (OK) where the error is an answer. */
export function statusCodeOf(error: ToolError): number {
  return errorRow(error.type, error.origin, error.reason).grpc;
}

/** What a handler throws, through Nest, to end its call with this error. */
export function exceptionOf(error: ToolError, call: CallNames = NO_CALL): RpcException {
  return new RpcException(statusOf(error, call));
}

export function exceptionOfFailure(failure: ToolFailure, call: CallNames = NO_CALL): RpcException {
  const { retryAfterMs = null, partialSideEffects = false } = failure;
  const { type, message, retryable, origin, reason, details } = failure;
  return exceptionOf(
    { type, message, retryable, origin, reason, details, retryAfterMs, partialSideEffects },
    call,
  );
}

const log = new Logger('grpc');

/** Anything but a refusal is a defect: it goes to the log, and INTERNAL to the caller. */
export function exceptionFor(thrown: unknown, call?: CallNames): RpcException {
  if (thrown instanceof RpcException) return thrown;
  if (thrown instanceof ToolFailure) return exceptionOfFailure(thrown, call);
  log.error(thrown);
  return exceptionOfFailure(new ToolFailure('INTERNAL', 'The gateway failed to answer.'), call);
}

export function statusOf(error: ToolError, call: CallNames): GrpcStatus {
  const code = statusCodeOf(error);
  const message = cut(error.message, MAX_MESSAGE_CHARS);
  const metadata = new Metadata();
  const said = detailsOf(error, call);
  const plain = encodeStatus({ code, message, details: said });
  const own = detailsStruct(error, roomBeside(plain, message));
  const status = own === undefined ? plain : encodeStatus({ code, message, details: [...said, own] });
  metadata.set('grpc-status-details-bin', Buffer.from(status));
  return { code, message, details: message, metadata };
}

function detailsOf(error: ToolError, call: CallNames): Detail[] {
  const details = [errorInfo(error, call)];
  if (error.retryAfterMs !== null) details.push(retryInfo(error.retryAfterMs));
  if (error.type === 'VALIDATION') details.push(badRequest(error));
  if (QUOTAS.has(error.type)) details.push(quotaFailure(error));
  if (error.type === 'NOT_FOUND') details.push(resourceInfo(error, call));
  return details;
}

/** In base64, beside the message, which travels percent-encoded as well. */
function roomBeside(status: Uint8Array, message: string): number {
  const left = MAX_TRAILER_CHARS - encodeURI(message).length - Math.ceil(status.length / 3) * 4;
  return Math.min(MAX_DETAILS_BYTES, Math.floor((left * 3) / 4) - AROUND_BYTES);
}

/** `details` of the error as REST has them, as a Struct. Members that do not fit in are left out; BadRequest has the violations. */
function detailsStruct({ type, details }: ToolError, room: number): Detail | undefined {
  const parts: Uint8Array[] = [];
  let left = room;
  for (const [name, value] of Object.entries(details)) {
    if (value === undefined || (type === 'VALIDATION' && name === 'violations')) continue;
    const part = structOf({ [name]: value });
    if (part === undefined || part.length > left) continue;
    parts.push(part);
    left -= part.length;
  }
  if (parts.length === 0) return undefined;
  // Fields of one message one after the other are the message of them all.
  return { type_url: 'type.googleapis.com/google.protobuf.Struct', value: Buffer.concat(parts) };
}

function structOf(object: JsonObject): Uint8Array | undefined {
  try {
    return encodeStruct(object);
  } catch (error) {
    if (error instanceof StructError) return undefined;
    throw error;
  }
}

const QUOTAS: ReadonlySet<ErrorType> = new Set(['RATE_LIMIT', 'CONCURRENCY_LIMIT', 'BUDGET_EXCEEDED']);

function errorInfo(
  { type, origin, reason, retryable, partialSideEffects }: ToolError,
  call: CallNames,
): Detail {
  const metadata: Record<string, string> = {
    type,
    origin,
    retryable: String(retryable),
    partial_side_effects: String(partialSideEffects),
  };
  if (call.callId !== '') metadata['call_id'] = call.callId;
  if (call.tool !== '') metadata['tool'] = cut(call.tool);
  if (call.attempts) metadata['attempts'] = String(call.attempts);
  if (call.replayed === true) metadata['replayed'] = 'true';
  return detail('ErrorInfo', { reason: cut(reason), domain: ERROR_DOMAIN, metadata });
}

function retryInfo(ms: number): Detail {
  const seconds = Math.floor(ms / 1000);
  return detail('RetryInfo', { retryDelay: { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) } });
}

function badRequest({ details, message }: ToolError): Detail {
  const found = violationsOf(details);
  const fieldViolations: object[] = [];
  let bytes = 0;
  for (const violation of found.length === 0 ? [{ message }] : found) {
    const field = cut(textOf(violation['pointer']));
    const description = cut(textOf(violation['message']));
    bytes += Buffer.byteLength(field) + Buffer.byteLength(description);
    if (bytes > MAX_VIOLATION_BYTES) break;
    fieldViolations.push({ field, description });
  }
  return detail('BadRequest', { fieldViolations });
}

function violationsOf(details: JsonObject): JsonObject[] {
  const violations = details['violations'];
  return Array.isArray(violations) ? violations.filter(isJsonObject) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function resourceInfo({ message }: ToolError, { tool }: CallNames): Detail {
  return detail('ResourceInfo', { resourceType: 'tool', resourceName: cut(tool), description: cut(message) });
}

function quotaFailure({ details, reason, message }: ToolError): Detail {
  const subject = typeof details['rule'] === 'string' ? details['rule'] : reason;
  return detail('QuotaFailure', { violations: [{ subject: cut(subject), description: cut(message) }] });
}

function detail(name: keyof typeof encodeDetail, message: object): Detail {
  return { type_url: `type.googleapis.com/google.rpc.${name}`, value: encodeDetail[name](message) };
}

/** Well formed too: a lone surrogate cannot be percent-encoded. */
function cut(text: string, limit = MAX_TEXT_CHARS): string {
  return (text.length <= limit ? text : `${text.slice(0, limit - 1)}…`).toWellFormed();
}
