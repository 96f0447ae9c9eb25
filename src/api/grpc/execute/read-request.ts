// Reads an ExecuteRequest into a ToolRequest. What cannot be read becomes a refusal that the core gives, behind auth and audit.
import { isUtf8 } from 'node:buffer';
import type { Metadata } from '@grpc/grpc-js';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/call/tool-context.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import {
  checkJsonValue,
  parseWithLargeIntegers,
  StrictJsonError,
  type WithLargeIntegers,
} from '../../../lib/json/strict-json.ts';
import { agreedContext } from '../../agreed-context.ts';
import { readContext } from '../../read-context.ts';
import { checkMetadataSize, contextOf, credentialOf, tenantOf, type Connection } from './call-metadata.ts';
import { invalid } from '../invalid.ts';
import { modeName } from '../interaction-mode.ts';
import { decodeStruct, StructError } from '../struct/struct-codec.ts';
import { UNREADABLE, type ContextMessage, type ExecuteMessage, type Readable } from '../wire-types.ts';

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** Results go back in the form in which the arguments came. */
export type PayloadForm = 'struct' | 'json';

export function formOf(message: Readable<ExecuteMessage>): PayloadForm {
  return message !== UNREADABLE && Object.hasOwn(message, 'argumentsJson') ? 'json' : 'struct';
}

export function readRequest(
  message: Readable<ExecuteMessage>,
  metadata: Metadata,
  life: Pick<ToolRequest, 'timeoutMs' | 'whenGone' | 'emit'>,
  connection: Connection,
): ToolRequest {
  const fixed = {
    tool: message === UNREADABLE ? '' : message.tool,
    credential: credentialOf(metadata, connection),
    door: 'grpc',
    timeoutMs: life.timeoutMs,
    whenGone: life.whenGone,
    emit: life.emit,
  };
  let context = contextOf(metadata);
  try {
    checkMetadataSize(metadata);
    const tenantId = tenantOf(metadata);
    if (tenantId !== undefined) context = { ...context, tenantId };
    if (message === UNREADABLE) throw invalid('', 'is not an ExecuteRequest');
    context = joinContext(message.context, context);
    return { ...fixed, ...readArguments(message), context };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { ...fixed, arguments: NO_ARGUMENTS, context, refusal: error };
  }
}

/** The message's fields, then what the metadata says. */
function joinContext(message: ContextMessage | null | undefined, fromMetadata: ToolContext): ToolContext {
  if (message === null || message === undefined) return fromMetadata;
  return agreedContext(readContext(contextFields(message)), fromMetadata, 'metadata');
}

/** As REST writes them: proto3 cannot tell a field that is empty from one that is not said. */
export function contextFields(message: ContextMessage): JsonObject {
  const fields: JsonObject = {};
  if (message.sessionId !== '') fields['session_id'] = message.sessionId;
  if (message.agentId !== '') fields['agent_id'] = message.agentId;
  if (message.userId !== '') fields['user_id'] = message.userId;
  if (message.tenantId !== '') fields['tenant_id'] = message.tenantId;
  if (message.mode !== 0) fields['mode'] = modeName(message.mode) ?? String(message.mode);
  if (message.turnId !== '') fields['turn_id'] = message.turnId;
  if (message.idempotencyKey !== '') fields['idempotency_key'] = message.idempotencyKey;
  if (message.confirmationToken !== '') fields['confirmation_token'] = message.confirmationToken;
  if (message.traceparent !== '') fields['traceparent'] = message.traceparent;
  if (message.tracestate !== '') fields['tracestate'] = message.tracestate;
  if (message.dryRun) fields['dry_run'] = true;
  if (message.cursor !== '') fields['cursor'] = message.cursor;
  if (message.toolVersion !== '') fields['tool_version'] = message.toolVersion;
  if (message.toolset !== '') fields['toolset'] = message.toolset;
  if (message.language !== '') fields['language'] = message.language;
  return fields;
}

function readArguments(message: ExecuteMessage): Pick<ToolRequest, 'arguments' | 'largeIntegers'> {
  const asStruct = Object.hasOwn(message, 'arguments');
  const asJson = Object.hasOwn(message, 'argumentsJson');
  if (asStruct && asJson)
    throw invalid('/arguments', 'must come as arguments or as arguments_json, not as both');
  if (!asStruct && !asJson) return { arguments: NO_ARGUMENTS };
  if (asStruct) return { arguments: readStruct(message.arguments) };
  const { value, largeIntegers } = readJson(message.argumentsJson);
  if (!isJsonObject(value)) throw invalid('/arguments', 'must be an object');
  return { arguments: value, largeIntegers };
}

function readStruct(bytes: Uint8Array): JsonObject {
  try {
    const value = decodeStruct(bytes);
    checkJsonValue(value);
    return value;
  } catch (error) {
    throw asRefusal(error);
  }
}

function readJson(bytes: Uint8Array): WithLargeIntegers {
  if (!isUtf8(bytes)) throw invalid('/arguments', 'must be JSON text in UTF-8');
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    return parseWithLargeIntegers(text);
  } catch (error) {
    throw asRefusal(error);
  }
}

function asRefusal(error: unknown): unknown {
  if (!(error instanceof StrictJsonError) && !(error instanceof StructError)) return error;
  const { reason, message } = error;
  const inside = error instanceof StrictJsonError ? (error.pointer ?? '') : '';
  return new ToolFailure('VALIDATION', `The arguments are not acceptable JSON: ${message}`, {
    reason,
    details: { violations: [{ pointer: `/arguments${inside}`, message }] },
  });
}
