// What the gateway says in a stream: each kind of message once, for the reference page and for what is written.
import { z } from 'zod';
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import type { WireSession } from '../../session-view.ts';
import { count, flag, list, number, object, oneOf, text } from '../../rest/route/shapes.ts';
import { ErrorTypes } from '../../rest/execute/envelope.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';

/** Of the conversation: numbered, in order, and said again to a client that resumes. */
export type StreamMessage =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'tool_started'; readonly id: string; readonly toolName: string }
  | {
      readonly type: 'tool_progress';
      readonly id: string;
      readonly fraction?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly type: 'tool_log';
      readonly id: string;
      readonly level: Extract<CallEvent, { kind: 'log' }>['level'];
      readonly message: string;
    }
  /** `dataJson`: JSON text. */
  | { readonly type: 'tool_partial'; readonly id: string; readonly dataJson: string }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly toolName: string;
      readonly response: StreamedResponse;
    }
  | { readonly type: 'turn_started'; readonly turnId: string; readonly budgets: WireSession['budgets'] }
  | { readonly type: 'turn_ended'; readonly turnId: string }
  | { readonly type: 'error'; readonly failure: ToldFailure }
  | { readonly type: 'ended'; readonly sessionEnded: boolean };

/** What is sent of a response: the result as the JSON text that it is already. */
export type StreamedResponse =
  | Omit<Extract<ToolResponse, { ok: true }>, 'data' | 'rateLimits'>
  | Omit<Extract<ToolResponse, { ok: false }>, 'cause' | 'rateLimits'>;

export type ToldFailure = Pick<
  ToolFailure,
  'type' | 'reason' | 'message' | 'retryable' | 'retryAfterMs' | 'details'
>;

/** Of one connection: without a number, and never said again. */
export type ConnectionMessage =
  | {
      readonly type: 'started';
      readonly streamId: string;
      readonly resumeToken: string;
      readonly resumeForMs: number;
      readonly session: WireSession;
    }
  | {
      readonly type: 'resumed';
      readonly streamId: string;
      readonly session: WireSession;
      /** How many messages of the client were taken since the stream began, its first not counted. */
      readonly received: number;
      /** Calls that have no result yet. */
      readonly openCalls: readonly string[];
    }
  | { readonly type: 'pong'; readonly nonce?: string | undefined }
  | { readonly type: 'reconnect' }
  | { readonly type: 'error'; readonly failure: ToldFailure };

const seq = () => count('Ascends by one in each stream.');
const id = () => text('The id that the call came with, or was given.');
const session = () => object('As `GET /v1/sessions/{id}` shows it: id, mode, turn_id, budgets.');
const failure = () =>
  z.object({
    type: ErrorTypes(),
    reason: text(),
    message: text(),
    retryable: flag(),
    retry_after_ms: number().nullable(),
    details: object('`violations` name each field that is wrong, with what was expected.'),
  });

const told = (summary: string, fields: z.ZodRawShape) => z.object(fields).describe(summary);

export const SERVER_MESSAGES: Readonly<Record<string, () => z.ZodObject>> = {
  started: () =>
    told('The stream has begun.', {
      stream_id: text(),
      resume_token: text('Goes on with this stream after its connection was lost. A secret, as a key is.'),
      resume_for_ms: count('How long a stream without a connection is kept.'),
      session: session(),
    }),
  resumed: () =>
    told('The stream goes on; what came after `last_seq` follows.', {
      stream_id: text(),
      session: session(),
      received: count(
        'How many messages the gateway has taken from the client on this stream, `start` and `resume` not counted: send again what came after them.',
      ),
      open_calls: list(text()).describe('Ids of calls that have no result yet: they are under way.'),
    }),
  text_delta: () => told('Text that the client sent, in its place.', { seq: seq(), text: text() }),
  tool_started: () =>
    told('Here the stream pauses: the call is under way.', { seq: seq(), id: id(), tool_name: text() }),
  tool_progress: () =>
    told('How far the tool is. Left out for a reader that is slow.', {
      seq: seq(),
      id: id(),
      fraction: number().optional(),
      message: text().optional(),
    }),
  tool_log: () =>
    told('What the tool logs. Left out for a reader that is slow.', {
      seq: seq(),
      id: id(),
      level: oneOf(['debug', 'info', 'warn', 'error']),
      message: text(),
    }),
  tool_partial: () =>
    told('What the tool has of its result so far.', { seq: seq(), id: id(), data: z.unknown() }),
  tool_result: () =>
    told('How the call ended; the stream goes on.', {
      seq: seq(),
      id: id(),
      tool_name: text('As it was called.'),
      ok: flag(),
      result: z.unknown().optional().describe('Where `ok` is true: what the tool returned.'),
      intents: list(object()).optional().describe('Where `ok` is true: what the tool asks the caller to do.'),
      error: object('Where `ok` is false: as `error` of the envelope.').optional(),
      meta: object('As `meta` of the envelope.'),
    }),
  turn_started: () => told('The turn has begun.', { seq: seq(), turn_id: text(), budgets: list(object()) }),
  turn_ended: () =>
    told('The turn is over, and so are the calls before it.', { seq: seq(), turn_id: text() }),
  error: () =>
    told('A message of the client was refused. With a `seq` where the stream goes on.', {
      seq: seq().optional(),
      error: failure(),
    }),
  ended: () => told('The stream is over, and so is its connection.', { seq: seq(), session_ended: flag() }),
  pong: () => told('Answers a `ping`.', { nonce: text().optional() }),
  reconnect: () =>
    told('This replica stops: calls under way still end here. Resume once the connection is closed.', {}),
};
