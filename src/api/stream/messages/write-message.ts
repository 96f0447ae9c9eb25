// Writes what the gateway says as the JSON text of one message: snake_case, and results pasted as they were encoded.
import { wireMeta } from '../../rest/execute/write-envelope.ts';
import type { ConnectionMessage, StreamedResponse, StreamMessage, ToldFailure } from './server-messages.ts';

/** `seq`: left out of what is of the connection alone. */
export function messageJson(message: StreamMessage | ConnectionMessage, seq?: number): string {
  const head = `{"type":"${message.type}"${seq === undefined ? '' : `,"seq":${seq}`}`;
  const fields = bodyOf(message);
  return fields === '' ? `${head}}` : `${head},${fields}}`;
}

/** Members of an object. */
function bodyOf(message: StreamMessage | ConnectionMessage): string {
  if (message.type === 'tool_partial') return `"id":${JSON.stringify(message.id)},"data":${message.dataJson}`;
  if (message.type !== 'tool_result') return JSON.stringify(fieldsOf(message)).slice(1, -1);
  const named = `"id":${JSON.stringify(message.id)},"tool_name":${JSON.stringify(message.toolName)}`;
  return `${named},${responseJson(message.response)}`;
}

function responseJson(response: StreamedResponse): string {
  const meta = JSON.stringify(wireMeta(response.meta));
  if (!response.ok) return `"ok":false,"error":${JSON.stringify(wireErrorOf(response))},"meta":${meta}`;
  return `"ok":true,"result":${response.dataJson},"intents":${JSON.stringify(response.intents)},"meta":${meta}`;
}

function wireErrorOf({ error }: Extract<StreamedResponse, { ok: false }>) {
  const { partialSideEffects, retryAfterMs, ...same } = error;
  return { ...same, partial_side_effects: partialSideEffects, retry_after_ms: retryAfterMs };
}

function fieldsOf(
  message: Exclude<StreamMessage | ConnectionMessage, { type: 'tool_partial' | 'tool_result' }>,
): object {
  switch (message.type) {
    case 'started': {
      const { streamId, resumeToken, resumeForMs, session } = message;
      return { stream_id: streamId, resume_token: resumeToken, resume_for_ms: resumeForMs, session };
    }
    case 'resumed': {
      const { streamId, session, received, openCalls } = message;
      return { stream_id: streamId, session, received, open_calls: openCalls };
    }
    case 'tool_started':
      return { id: message.id, tool_name: message.toolName };
    case 'turn_started':
      return { turn_id: message.turnId, budgets: message.budgets };
    case 'turn_ended':
      return { turn_id: message.turnId };
    case 'ended':
      return { session_ended: message.sessionEnded };
    case 'error':
      return { error: failureFields(message.failure) };
    case 'text_delta':
    case 'tool_progress':
    case 'tool_log':
    case 'pong':
    case 'reconnect':
      break;
  }
  return withoutType(message);
}

function withoutType({ type: _type, ...fields }: { readonly type: string }): object {
  return fields;
}

export function failureFields({ type, reason, message, retryable, retryAfterMs, details }: ToldFailure) {
  return { type, reason, message, retryable, retry_after_ms: retryAfterMs ?? null, details };
}
