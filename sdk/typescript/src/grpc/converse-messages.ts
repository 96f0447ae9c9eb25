// What is said in Converse, from and to the messages of a stream as a WebSocket has them.
import type { ClientMessage, ServerMessage } from '../stream/messages.ts';
import { budgetOf, contextMessage, errorFieldsOf, intentOf, metaOf, modeMessage, sessionOf } from './wire.ts';
import type { Fields } from './schema.ts';

export function requestOf(message: ClientMessage): object {
  switch (message.type) {
    case 'start': {
      const { type: _, mode, token: __, ...start } = message;
      return { start: { ...start, ...(mode !== undefined && { mode: modeMessage(mode) }) } };
    }
    case 'tool_call': {
      const { type: _, arguments: args = {}, context, ...call } = message;
      return {
        tool_call: {
          ...call,
          arguments_json: Buffer.from(JSON.stringify(args)),
          ...(context !== undefined && { context: contextMessage(context) }),
        },
      };
    }
    case 'resume':
    case 'text_delta':
    case 'tool_cancel':
    case 'turn_start':
    case 'turn_end':
    case 'ping':
    case 'end':
      return { [message.type]: fieldsOf(message) };
  }
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

function fieldsOf({ type: _, ...fields }: { readonly type: string }): object {
  return fields;
}
