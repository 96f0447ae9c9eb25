// A model for those who have no key of a provider: it speaks the streaming protocols of OpenAI and Anthropic on loopback, and knows two
// things: a question with two numbers is for calculate_sum, one that names a note is for delete_note. What it is answered, it says.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Said {
  readonly role: string;
  readonly content: unknown;
}

interface Turn {
  readonly text?: string;
  readonly call?: { readonly name: string; readonly args: object };
}

export interface FakeModel {
  readonly url: string;
  close(): void;
}

export async function startFakeModel(): Promise<FakeModel> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request) body += String(piece);
      const turn = turnAfter((JSON.parse(body) as { messages: readonly Said[] }).messages);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = request.url?.startsWith('/v1/chat') === true ? chatEvents(turn) : messageEvents(turn);
      for (const event of events) response.write(event);
      response.end();
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function turnAfter(messages: readonly Said[]): Turn {
  const last = messages.at(-1);
  const answer = textOf(last?.content);
  if (last?.role === 'tool' || Array.isArray(last?.content)) return { text: `The tool says: ${answer}` };
  const [note] = /note-\d+/.exec(answer) ?? [];
  if (note !== undefined) return { call: { name: 'delete_note', args: { note_id: note } } };
  const [a, b] = answer.match(/\d+/g) ?? [];
  if (a !== undefined && b !== undefined)
    return { call: { name: 'calculate_sum', args: { a: Number(a), b: Number(b) } } };
  return { text: 'I can add two numbers, or delete a note: say which.' };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const [block] = content as readonly { readonly content?: unknown }[];
  return String(block?.content);
}

function* chatEvents({ text = '', call }: Turn): Generator<string> {
  const chunk = (delta: object, finish: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const whole = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices };
    return `data: ${JSON.stringify(whole)}\n\n`;
  };
  yield chunk({ role: 'assistant', content: text });
  if (call !== undefined) {
    const [begin, rest] = halves(JSON.stringify(call.args));
    const id = `call_${Date.now()}`;
    yield chunk({
      tool_calls: [{ index: 0, id, type: 'function', function: { name: call.name, arguments: begin } }],
    });
    yield chunk({ tool_calls: [{ index: 0, function: { arguments: rest } }] });
  }
  yield chunk({}, call === undefined ? 'stop' : 'tool_calls');
  yield 'data: [DONE]\n\n';
}

function* messageEvents({ text, call }: Turn): Generator<string> {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', content: [], usage };
  const block =
    call === undefined
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${Date.now()}`, name: call.name, input: {} };
  const deltas =
    call === undefined
      ? [{ type: 'text_delta', text }]
      : halves(JSON.stringify(call.args)).map((json) => ({ type: 'input_json_delta', partial_json: json }));
  yield event('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
  yield event('content_block_start', { index: 0, content_block: block });
  for (const delta of deltas) yield event('content_block_delta', { index: 0, delta });
  yield event('content_block_stop', { index: 0 });
  const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
  yield event('message_delta', { delta: stop, usage });
  yield event('message_stop', {});
}

function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
