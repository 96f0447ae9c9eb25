// Anthropic's Messages API.
import type { ModelEvent, ModelProtocol } from './model-server.ts';
import { listOf, members, nextTurn, pieces, Refused, textOf, type Told, type Turn } from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export const anthropicMessages: ModelProtocol = {
  tools: (body) => body['tools'],
  turn: turnOf,
  answer: (turn) => ({ ...message(turn), content: blocksOf(turn), stop_reason: stopOf(turn), usage: USAGE }),
  events,
};

const USAGE = { input_tokens: 1, output_tokens: 1 };
const message = (_turn: Turn) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'test',
  stop_sequence: null,
});
const stopOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_use' : 'end_turn');

function turnOf({ messages }: Body): Turn {
  const turns: string[][] = [];
  const told: Told[] = [];
  for (const [index, entry] of listOf(messages, 'messages').entries()) {
    const at = `messages[${index}]`;
    const { role, content } = members(entry, at, 'role content');
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new Refused(`${at}: roles alternate`);
    if (typeof content === 'string') continue;
    const blocks = listOf(content, `${at}.content`) as readonly Body[];
    for (const block of blocks)
      if (block['type'] === 'text' && block['text'] === '')
        throw new Refused(`${at}: text must be non-empty`);
    if (role === 'assistant')
      turns.push(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => textOf(id, `${at} id`)));
    else told.push(...blocks.map((block) => resultOf(block, at)));
  }
  return nextTurn(turns, told);
}

function resultOf(block: Body, at: string): Told {
  const {
    type,
    tool_use_id: id,
    content,
    is_error: isError = false,
  } = members(block, at, 'type tool_use_id content is_error');
  if (type !== 'tool_result') throw new Refused(`${at}: results come first`);
  const told = { id: textOf(id, `${at}.tool_use_id`), isError: isError === true };
  if (typeof content === 'string') return { ...told, text: content, images: 0 };
  const parts = listOf(content, `${at}.content`) as readonly Body[];
  const images = parts.filter((part) => part['type'] === 'image');
  for (const image of images) {
    const { source } = members(image, at, 'type source');
    const { type: kind, media_type: media } = members(source, at, 'type media_type data');
    if (kind !== 'base64' || media !== 'image/png') throw new Refused(`${at}: ${String(media)}`);
  }
  const texts = parts.filter((part) => part['type'] === 'text');
  return { ...told, text: texts.map((part) => textOf(part['text'], at)).join(''), images: images.length };
}

function blocksOf({ text, calls }: Turn) {
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ];
}

function events(turn: Turn): readonly ModelEvent[] {
  const event = (type: string, more: object): ModelEvent => ({ event: type, data: { type, ...more } });
  const ofBlocks = blocksOf(turn).flatMap((block, index) => {
    const isText = 'text' in block;
    const begun = isText ? { type: 'text', text: '' } : { ...block, input: {} };
    const deltas = isText
      ? pieces(block.text ?? '').map((text) => ({ type: 'text_delta', text }))
      : pieces(JSON.stringify('input' in block ? block.input : {})).map((json) => ({
          type: 'input_json_delta',
          partial_json: json,
        }));
    return [
      event('content_block_start', { index, content_block: begun }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
  });
  return [
    event('message_start', { message: { ...message(turn), content: [], stop_reason: null, usage: USAGE } }),
    event('ping', {}),
    ...ofBlocks,
    event('message_delta', { delta: { stop_reason: stopOf(turn), stop_sequence: null }, usage: USAGE }),
    event('message_stop', {}),
  ];
}
