// Reads what a client says in Converse into the messages of streams, as they are over a WebSocket: one validation for both.
import { isUtf8 } from 'node:buffer';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { parseWithLargeIntegers, StrictJsonError } from '../../../lib/json/strict-json.ts';
import { readValue, type Inbound } from '../../stream/messages/read-message.ts';
import { checkTexts } from '../check-texts.ts';
import { contextFields } from '../execute/read-request.ts';
import { modeName } from '../interaction-mode.ts';
import { invalid } from '../invalid.ts';
import { UNREADABLE, type ConverseMessage, type Readable } from '../wire-types.ts';

type ToolCall = NonNullable<ConverseMessage['toolCall']>;

/** Never throws ToolFailure: what is wrong is part of what is read. */
export function readConverse(message: Readable<ConverseMessage>): Inbound {
  try {
    if (message === UNREADABLE) throw invalid('', 'is not a ConverseRequest');
    if (said(message, 'toolCall')) return readToolCall(message.toolCall as ToolCall);
    const fields = fieldsOf(message);
    checkTexts(fields);
    return readValue(fields, []);
  } catch (error) {
    if (error instanceof ToolFailure) return { kind: 'malformed', failure: error };
    throw error;
  }
}

function said(message: ConverseMessage, field: keyof ConverseMessage): boolean {
  return Object.hasOwn(message, field);
}

function fieldsOf(message: ConverseMessage): JsonObject {
  const { start, resume, textDelta, toolCancel, turnEnd, ping, end } = message;
  if (said(message, 'start') && start)
    return {
      type: 'start',
      ...filled({
        session_id: start.sessionId,
        agent_id: start.agentId,
        user_id: start.userId,
        tenant_id: start.tenantId,
        language: start.language,
      }),
      ...(start.mode !== 0 && { mode: modeName(start.mode) ?? String(start.mode) }),
    };
  if (said(message, 'resume') && resume)
    return { type: 'resume', resume_token: resume.resumeToken, last_seq: resume.lastSeq };
  if (said(message, 'textDelta') && textDelta) return { type: 'text_delta', text: textDelta.text };
  if (said(message, 'toolCancel') && toolCancel) return { type: 'tool_cancel', id: toolCancel.id };
  if (said(message, 'turnStart')) return { type: 'turn_start' };
  if (said(message, 'turnEnd') && turnEnd) return { type: 'turn_end', cancel: turnEnd.cancel };
  if (said(message, 'ping') && ping) return { type: 'ping', ...filled({ nonce: ping.nonce }) };
  if (said(message, 'end') && end)
    return {
      type: 'end',
      ...(Object.hasOwn(end, 'endSession') && { end_session: end.endSession === true }),
    };
  throw invalid('', 'must hold one of the messages of a ConverseRequest');
}

function readToolCall({ toolName, argumentsJson, id, context, timeoutMs }: ToolCall): Inbound {
  const fields = {
    type: 'tool_call',
    tool_name: toolName,
    ...filled({ id }),
    ...(context && { context: contextFields(context) }),
    ...(timeoutMs !== 0 && { timeout_ms: timeoutMs }),
  };
  checkTexts(fields);
  try {
    const { value, largeIntegers } = argumentsOf(argumentsJson);
    const inside = largeIntegers.map((pointer) => `/arguments${pointer}`);
    return readValue({ ...fields, arguments: value as JsonValue }, inside);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const read = readValue(fields, []);
    return read.kind === 'call' ? { ...read, refusal: read.refusal ?? notJson(error) } : read;
  }
}

function argumentsOf(bytes: Uint8Array) {
  if (bytes.length === 0) return { value: {}, largeIntegers: [] };
  if (!isUtf8(bytes)) throw new StrictJsonError('SYNTAX', 'is not text in UTF-8', '');
  return parseWithLargeIntegers(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
  );
}

function notJson({ reason, pointer, message }: StrictJsonError): ToolFailure {
  return new ToolFailure('VALIDATION', `The arguments are not acceptable JSON: ${message}`, {
    reason,
    details: { violations: [{ pointer: `/arguments${pointer ?? ''}`, message }] },
  });
}

/** proto3 cannot tell a field that is empty from one that is not said. */
function filled(fields: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
