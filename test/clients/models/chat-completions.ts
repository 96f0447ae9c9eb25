// OpenAI's Chat Completions, and Mistral's, which are alike but for what a message of a tool may hold.
import type { ModelProtocol } from './model-server.ts';
import { listOf, members, nextTurn, pieces, textOf, type Told, type Turn } from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export const chatCompletions: ModelProtocol = {
  tools: (body) => body['tools'],
  turn: (body) => turnOf(body, 'role tool_call_id content', 0),
  answer: (turn) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'test',
    ...whole(turn),
  }),
  events,
};

export const mistralChat: ModelProtocol = {
  ...chatCompletions,
  turn: (body) => turnOf(body, 'role tool_call_id content name', 1),
  // Its calls are not streamed in pieces.
  events: (turn) => eventsWith(turn, (call, index) => [{ index, ...call }]),
};

function turnOf({ messages }: Body, known: string, images: 0 | 1): Turn {
  const turns: string[][] = [];
  const told: Told[] = [];
  for (const [index, message] of listOf(messages, 'messages').entries()) {
    const at = `messages[${index}]`;
    const { role } = message as Body;
    if (role === 'assistant') turns.push(callsOf(message as Body, at));
    if (role === 'tool') told.push(answerOf(message, at, known));
  }
  return nextTurn(turns, told, images);
}

function callsOf({ tool_calls: calls = [] }: Body, at: string): string[] {
  return listOf(calls, `${at}.tool_calls`).map((call) => {
    const { id, function: fn } = call as Body;
    JSON.parse(textOf((fn as Body)['arguments'], `${at} arguments`));
    return textOf(id, `${at} id`);
  });
}

function answerOf(message: unknown, at: string, known: string): Told {
  const { tool_call_id: id, content } = members(message, at, known);
  const told = { id: textOf(id, `${at}.tool_call_id`), isError: false };
  if (typeof content === 'string') return { ...told, text: textOf(content, `${at}.content`), images: 0 };
  const parts = listOf(content, `${at}.content`) as readonly Body[];
  const images = parts.filter(({ type }) => type === 'image_url');
  for (const { image_url: url } of images) textOf(url, `${at} image_url`);
  const text = parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('');
  return { ...told, text: textOf(text, `${at}.content`), images: images.length };
}

const asked = ({ id, name, args }: Turn['calls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

function whole({ text, calls }: Turn) {
  const message = {
    role: 'assistant',
    content: text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls.map(asked) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(calls) };
  return { choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
}

const finishOf = (calls: Turn['calls']) => (calls.length > 0 ? 'tool_calls' : 'stop');

type Asked = ReturnType<typeof asked>;

function events(turn: Turn) {
  return eventsWith(turn, ({ function: fn, ...begun }, index) => [
    { index, ...begun, function: { name: fn.name, arguments: '' } },
    ...pieces(fn.arguments).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
}

function eventsWith(
  { text, calls }: Turn,
  deltasOf: (call: Asked, index: number) => readonly object[],
): readonly { data: unknown }[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'test',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    },
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(text).map((content) => chunk({ content })),
    ...calls.flatMap((call, index) =>
      deltasOf(asked(call), index).map((delta) => chunk({ tool_calls: [delta] })),
    ),
    chunk({}, finishOf(calls)),
    { data: '[DONE]' },
  ];
}
