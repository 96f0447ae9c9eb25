// OpenAI's Responses API.
import type { ModelEvent, ModelProtocol } from './model-server.ts';
import { listOf, members, nextTurn, pieces, Refused, textOf, type Told, type Turn } from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export const responses: ModelProtocol = {
  tools: (body) => body['tools'],
  turn: turnOf,
  answer: (turn) => responseOf('completed', itemsOf(turn)),
  events,
};

/** Items of one answer stand together, and what answers them behind them. */
function turnOf({ input }: Body): Turn {
  const turns: string[][] = [];
  const told: Told[] = [];
  let isModels = false;
  for (const [index, item] of listOf(input, 'input').entries()) {
    const at = `input[${index}]`;
    const { type = 'message', role, call_id: id, arguments: args } = item as Body;
    const byModel = type === 'function_call' || role === 'assistant';
    if (byModel && !isModels) turns.push([]);
    isModels = byModel;
    if (type === 'function_call_output') told.push(outputOf(item, at));
    if (type !== 'function_call') continue;
    JSON.parse(textOf(args, `${at}.arguments`));
    turns.at(-1)?.push(textOf(id, `${at}.call_id`));
  }
  return nextTurn(turns, told);
}

function outputOf(item: unknown, at: string): Told {
  const { call_id: id, output } = members(item, at, 'type call_id output id status');
  const told = { id: textOf(id, `${at}.call_id`), isError: false };
  if (typeof output === 'string') return { ...told, text: textOf(output, at), images: 0 };
  const parts = listOf(output, `${at}.output`) as readonly Body[];
  const images = parts.filter(({ type }) => type === 'input_image');
  for (const image of images) {
    const { image_url: url } = members(image, at, 'type image_url detail file_id');
    if (!textOf(url, at).startsWith('data:image/png;base64,')) throw new Refused(`${at}: ${String(url)}`);
  }
  const texts = parts.filter(({ type }) => type === 'input_text');
  return { ...told, text: texts.map(({ text }) => textOf(text, at)).join(''), images: images.length };
}

function responseOf(status: string, output: readonly object[]) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    model: 'test',
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    },
  };
}

function itemsOf({ text, calls }: Turn) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const said = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content };
  return [
    ...(text === '' ? [] : [said]),
    ...calls.map(({ id, name, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ];
}

function events(turn: Turn): readonly ModelEvent[] {
  let sequence = 0;
  const event = (type: string, more: object): ModelEvent => ({
    event: type,
    data: { type, sequence_number: (sequence += 1), ...more },
  });
  const items = itemsOf(turn);
  return [
    event('response.created', { response: responseOf('in_progress', []) }),
    ...items.flatMap((item, index) => eventsOf(item, index, event)),
    event('response.completed', { response: responseOf('completed', items) }),
  ];
}

function eventsOf(
  item: ReturnType<typeof itemsOf>[number],
  index: number,
  event: (type: string, more: object) => ModelEvent,
): readonly ModelEvent[] {
  const place = { output_index: index, item_id: item.id };
  const begun = (more: object) =>
    event('response.output_item.added', {
      output_index: index,
      item: { ...item, status: 'in_progress', ...more },
    });
  const done = event('response.output_item.done', { output_index: index, item });
  if ('arguments' in item)
    return [
      begun({ arguments: '' }),
      ...pieces(item.arguments).map((delta) =>
        event('response.function_call_arguments.delta', { ...place, delta }),
      ),
      event('response.function_call_arguments.done', { ...place, arguments: item.arguments }),
      done,
    ];
  const [part] = item.content;
  const at = { ...place, content_index: 0 };
  return [
    begun({ content: [] }),
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    ...pieces(part?.text ?? '').map((delta) =>
      event('response.output_text.delta', { ...at, delta, logprobs: [] }),
    ),
    event('response.output_text.done', { ...at, text: part?.text, logprobs: [] }),
    event('response.content_part.done', { ...at, part }),
    done,
  ];
}
