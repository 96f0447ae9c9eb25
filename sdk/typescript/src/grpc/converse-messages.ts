// What is said in Converse, from and to the messages of a stream as a WebSocket has them.
import type { ClientMessage, ServerMessage } from '../stream/messages.ts';
import { budgetOf, contextMessage, errorFieldsOf, intentOf, metaOf, modeMessage, sessionOf } from './wire.ts';
import type { Fields } from './schema.ts';

export function requestOf(message: ClientMessage): object {
  if (message.type === 'start') return { start: startOf(message) };
  if (message.type === 'tool_call') return { tool_call: callOf(message) };
  return { [message.type]: fieldsOf(message) };
}

type Message<Type> = Extract<ClientMessage, { type: Type }>;

/** The credential is shown beside the messages. */
function startOf(message: Message<'start'>): object {
  const { type: _type, token: _token, mode, ...start } = message;
  return { ...start, ...(mode !== undefined && { mode: modeMessage(mode) }) };
}

function callOf({ id, tool_name, arguments: args = {}, context, timeout_ms }: Message<'tool_call'>): object {
  const said = context !== undefined && { context: contextMessage(context) };
  return { id, tool_name, timeout_ms, arguments_json: Buffer.from(JSON.stringify(args)), ...said };
}

/** Undefined: something that this version of the package does not know. */
export function messageOf(response: Fields): ServerMessage | undefined {
  const seq = Number(response['seq']);
  const type = String(response['message']);
  const said = (response[type] ?? {}) as Fields;
  const fields = type === 'tool_said' ? saidBy(said) : READERS[type]?.(said);
  if (fields === undefined) return undefined;
  const named = 'type' in fields ? fields : { type, ...fields };
  return { ...named, ...(seq !== 0 && { seq }) } as unknown as ServerMessage;
}

const same = (fields: Fields): Fields => fields;

const READERS: Readonly<Record<string, (said: Fields) => Fields>> = {
  started: (said) => ({ ...said, session: sessionOf(said['session']) }),
  resumed: (said) => ({ ...said, session: sessionOf(said['session']) }),
  text_delta: same,
  tool_started: same,
  tool_result: resultOf,
  turn_started: (said) => ({ ...said, budgets: (said['budgets'] as Fields[]).map(budgetOf) }),
  turn_ended: same,
  refused: (said) => ({ type: 'error', error: errorFieldsOf(said['error']) }),
  ended: same,
  pong: same,
  reconnect: same,
};

function resultOf({ id, tool_name, ok, result_json: json, intents, error, meta }: Fields): Fields {
  const named = { id, tool_name, ok, meta: metaOf(meta) };
  if (ok !== true) return { ...named, error: errorFieldsOf(error) };
  return {
    ...named,
    result: JSON.parse((json as Buffer).toString()) as unknown,
    intents: (intents as Fields[]).map(intentOf),
  };
}

function saidBy(said: Fields): Fields | undefined {
  const { id, event } = said;
  const { _fraction, ...fields } = (said[String(event)] ?? {}) as Fields;
  if (event === 'partial')
    return {
      type: 'tool_partial',
      id,
      data: JSON.parse((fields['data_json'] as Buffer).toString()) as unknown,
    };
  return event === 'progress' || event === 'log' ? { type: `tool_${event}`, id, ...fields } : undefined;
}

function fieldsOf(message: { readonly type: string }): object {
  const { type: _type, ...fields } = message;
  return fields;
}
