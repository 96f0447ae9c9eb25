// Bedrock's Converse, and its stream in Amazon's binary frames.
import { crc32 } from 'node:zlib';
import type { ModelEvent, ModelProtocol } from './model-server.ts';
import { listOf, members, nextTurn, pieces, Refused, textOf, type Told, type Turn } from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export const converse: ModelProtocol = {
  tools: (body) => body['toolConfig'],
  turn: turnOf,
  answer: (turn) => ({
    output: { message: { role: 'assistant', content: blocksOf(turn) } },
    stopReason: stopOf(turn),
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metrics: { latencyMs: 1 },
  }),
  events,
  encode,
};

const stopOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_use' : 'end_turn');

function turnOf({ messages }: Body): Turn {
  const turns: string[][] = [];
  const told: Told[] = [];
  for (const [index, entry] of listOf(messages, 'messages').entries()) {
    const at = `messages[${index}]`;
    const { role, content } = members(entry, at, 'role content');
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new Refused(`${at}: roles alternate`);
    const blocks = listOf(content, `${at}.content`) as readonly Body[];
    if (role === 'assistant') turns.push(blocks.flatMap(({ toolUse }) => useOf(toolUse, at)));
    else told.push(...blocks.flatMap(({ toolResult }) => resultOf(toolResult, at)));
  }
  return nextTurn(turns, told);
}

function useOf(use: unknown, at: string): readonly string[] {
  if (use === undefined) return [];
  const { toolUseId, input } = members(use, at, 'toolUseId name input type');
  members(input, `${at} input`, 'city to amount');
  return [textOf(toolUseId, at)];
}

function resultOf(result: unknown, at: string): readonly Told[] {
  if (result === undefined) return [];
  const { toolUseId, content, status } = members(result, at, 'toolUseId content status');
  let images = 0;
  const texts = listOf(content, at).map((part) => {
    const { text, json, image } = members(part, at, 'text json image document');
    if (image !== undefined) {
      const { format, source } = members(image, at, 'format source');
      const bytes = Buffer.from(textOf(members(source, at, 'bytes')['bytes'], at), 'base64');
      if (format !== 'png' || bytes.toString('latin1', 1, 4) !== 'PNG') throw new Refused(`${at}: no PNG`);
      images += 1;
      return '';
    }
    return json === undefined ? textOf(text, at) : JSON.stringify(json);
  });
  return [{ id: textOf(toolUseId, at), text: texts.join(''), isError: status === 'error', images }];
}

function blocksOf({ text, calls }: Turn) {
  return [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
  ];
}

function events(turn: Turn): readonly ModelEvent[] {
  const ofBlocks = blocksOf(turn).flatMap((block, contentBlockIndex) => {
    const at = { contentBlockIndex };
    const stop = { event: 'contentBlockStop', data: at };
    if (!('toolUse' in block))
      return [
        ...pieces(block.text).map((text) => ({
          event: 'contentBlockDelta',
          data: { ...at, delta: { text } },
        })),
        stop,
      ];
    const { input, ...begun } = block.toolUse;
    return [
      { event: 'contentBlockStart', data: { ...at, start: { toolUse: begun } } },
      ...pieces(JSON.stringify(input)).map((piece) => ({
        event: 'contentBlockDelta',
        data: { ...at, delta: { toolUse: { input: piece } } },
      })),
      stop,
    ];
  });
  return [
    { event: 'messageStart', data: { role: 'assistant' } },
    ...ofBlocks,
    { event: 'messageStop', data: { stopReason: stopOf(turn) } },
    {
      event: 'metadata',
      data: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, metrics: { latencyMs: 1 } },
    },
  ];
}

/** application/vnd.amazon.eventstream: lengths, headers, payload, each part with its checksum. */
function encode({ event = '', data }: ModelEvent): Buffer {
  const headers = Buffer.concat([
    header(':event-type', event),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify(data));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const begun = Buffer.concat([prelude, checksum(prelude), headers, payload]);
  return Buffer.concat([begun, checksum(begun)]);
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  // 7: a text.
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
