// Writes what the gateway says in a stream as ConverseResponse: bytes, ready to send.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type {
  ConnectionMessage,
  StreamedResponse,
  StreamMessage,
  ToldFailure,
} from '../../stream/messages/server-messages.ts';
import { errorMessage, intentMessage, MAX_SEND_BYTES, metaMessage } from '../execute/write-response.ts';
import { messageOf, sessionMessage } from '../management/call-message.ts';
import { encodeConverse } from '../wire-types.ts';

type Said = StreamMessage | ConnectionMessage;

/** What does not fit into a message is told as a result that is too large. */
export function writeConverse(message: Said, seq = 0): Uint8Array {
  try {
    const bytes = encodeConverse({ seq, ...fieldsOf(message) });
    if (bytes.length <= MAX_SEND_BYTES) return bytes;
    throw new ToolFailure('OUTPUT_TOO_LARGE', `The tool's result takes ${bytes.length} bytes as a message.`);
  } catch (error) {
    if (!(error instanceof ToolFailure) || message.type !== 'tool_result') throw error;
    return encodeConverse({ seq, toolResult: resultMessage(message, tooLarge(message.response, error)) });
  }
}

function fieldsOf(message: Said): object {
  switch (message.type) {
    case 'started': {
      const { streamId, resumeToken, resumeForMs, session } = message;
      return { started: { streamId, resumeToken, resumeForMs, session: sessionMessage(session) } };
    }
    case 'resumed': {
      const { streamId, session, received, openCalls } = message;
      return { resumed: { streamId, session: sessionMessage(session), received, openCalls } };
    }
    case 'text_delta':
      return { textDelta: { text: message.text } };
    case 'tool_started':
      return { toolStarted: { id: message.id, toolName: message.toolName } };
    case 'tool_progress':
      return {
        toolSaid: { id: message.id, progress: { fraction: message.fraction, message: message.message } },
      };
    case 'tool_log':
      return { toolSaid: { id: message.id, log: { level: message.level, message: message.message } } };
    case 'tool_partial':
      return { toolSaid: { id: message.id, partial: { dataJson: message.dataJson } } };
    case 'tool_result':
      return { toolResult: resultMessage(message, message.response) };
    case 'turn_started':
      return { turnStarted: { turnId: message.turnId, budgets: message.budgets.map(messageOf) } };
    case 'turn_ended':
      return { turnEnded: { turnId: message.turnId } };
    case 'ended':
      return { ended: { sessionEnded: message.sessionEnded } };
    case 'error':
      return { refused: { error: errorMessage(toolError(message.failure)) } };
    case 'pong':
      return { pong: { nonce: message.nonce } };
    case 'reconnect':
      break;
  }
  return { reconnect: {} };
}

function resultMessage(
  { id, toolName }: Extract<StreamMessage, { type: 'tool_result' }>,
  response: StreamedResponse,
): object {
  const named = { id, toolName, meta: metaMessage(response.meta) };
  if (!response.ok) return { ...named, ok: false, error: errorMessage(response.error) };
  const { dataJson, intents } = response;
  return { ...named, ok: true, resultJson: Buffer.from(dataJson), intents: intents.map(intentMessage) };
}

function toolError({ type, reason, message, retryable, retryAfterMs, details }: ToldFailure) {
  const told = { type, reason, message, retryable, details };
  return {
    ...told,
    retryAfterMs: retryAfterMs ?? null,
    origin: 'caller' as const,
    partialSideEffects: false,
  };
}

/** The tool has run by then. */
function tooLarge({ meta }: StreamedResponse, { type, reason, message }: ToolFailure): StreamedResponse {
  const told = { type, reason, message, details: {}, origin: 'tool' as const };
  return {
    ok: false,
    error: { ...told, retryable: false, retryAfterMs: null, partialSideEffects: true },
    meta,
  };
}
