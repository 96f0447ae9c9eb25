// What a client says in a stream: each kind of message once; it is read by this, and the reference page is made from it.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { isLanguageTag } from '../../../lib/text/language-tag.ts';
import { flag, object, oneOf, shape, textOf, wholeNumber, type ValueOf } from '../../rest/route/shapes.ts';

/** Characters of one piece of text: a longer one comes in several. */
const LONGEST_DELTA = 16_384;
const LONGEST_ID = 128;
const LONGEST = 512;
/** 2^53 − 1: as far as numbers of JSON count exactly. */
const LAST_SEQ = Number.MAX_SAFE_INTEGER;

const who = (description: string) => textOf(1, LONGEST).optional().describe(description);
const callId = () => textOf(1, LONGEST_ID);
const credential = () =>
  textOf(1, 16_384)
    .optional()
    .describe(
      'An API key or a token, for clients that cannot set the header Authorization, such as browsers. Never in the URL.',
    );

function message<const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  summary: string,
  fields: Fields,
) {
  return shape(() =>
    z.strictObject({ type: z.literal(type), ...fields }, { error: refusalOf(type) }).describe(summary),
  );
}

function refusalOf(type: string) {
  return ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? undefined : `must be an object: {"type": "${type}", …}`;
}

export const CLIENT_MESSAGES = {
  start: message('start', 'Begins a stream: the first message, with the session that its calls belong to.', {
    token: credential(),
    session_id: who('A declared session to go on with. Left out: one is declared.'),
    agent_id: who(
      'For whom the calls of the session are made; the credential must be allowed to speak for it.',
    ),
    user_id: who('The user of its calls.'),
    tenant_id: who('Must be a tenant of the credential.'),
    mode: oneOf(INTERACTION_MODES).optional().describe('Of a session that is declared: its mode.'),
    language: textOf(2, 35)
      .refine(isLanguageTag, 'must be a language tag such as de or pt-BR')
      .optional()
      .describe('The language that the user is spoken to in: of calls whose context names no other.'),
  }),
  resume: message('resume', 'Goes on with a stream whose connection was lost: the first message.', {
    token: credential(),
    tenant_id: who('Of a credential that serves several: the tenant of the stream.'),
    resume_token: textOf(1, 200).describe('From `started`.'),
    last_seq: wholeNumber(0, LAST_SEQ).describe('The greatest `seq` that was received; 0: none.'),
  }),
  text_delta: message('text_delta', "A piece of the model's text: it comes back in its place.", {
    text: textOf(0, LONGEST_DELTA),
  }),
  tool_call: message('tool_call', 'Calls a tool: what follows in the stream waits for its result.', {
    tool_name: textOf(1, LONGEST).describe("Providers' spellings are accepted too."),
    arguments: object().optional(),
    id: callId().optional().describe("The caller's own id of the call. Left out: the stream numbers it."),
    context: object(
      'idempotency_key, confirmation_token, dry_run, cursor, tool_version, traceparent, tracestate.',
    ).optional(),
    timeout_ms: wholeNumber(1, 999_999_999).optional().describe('How long the caller waits at most.'),
  }),
  tool_cancel: message('tool_cancel', 'Gives a call up that is under way: its result says so.', {
    id: callId(),
  }),
  turn_start: message('turn_start', 'Begins the next turn of the session, with budgets of its own.', {}),
  turn_end: message('turn_end', 'Ends the turn: no call is made until the next begins.', {
    cancel: flag('Calls that are under way are given up: the caller speaks already.').optional(),
  }),
  ping: message('ping', 'Asks for a `pong`, and keeps an idle stream open.', {
    nonce: textOf(1, LONGEST_ID).optional(),
  }),
  end: message('end', 'Ends the stream once its calls have ended.', {
    end_session: flag(
      'Whether its session ends too. Left out: one that the stream declared does.',
    ).optional(),
  }),
} as const;

export type ClientMessageType = keyof typeof CLIENT_MESSAGES;
export type ClientMessageOf<Type extends ClientMessageType> = ValueOf<(typeof CLIENT_MESSAGES)[Type]>;
export type ClientMessage = { [Type in ClientMessageType]: ClientMessageOf<Type> }[ClientMessageType];

export const CLIENT_TYPES = Object.keys(CLIENT_MESSAGES) as readonly ClientMessageType[];

export function isClientType(type: unknown): type is ClientMessageType {
  return typeof type === 'string' && Object.hasOwn(CLIENT_MESSAGES, type);
}
