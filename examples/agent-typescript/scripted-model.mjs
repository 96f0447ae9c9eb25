// A model for trying things without a key: it speaks OpenAI's protocol, and follows a script of three turns.
import { createServer } from 'node:http';

const SCRIPT = [
  [{ name: 'calculate_sum', arguments: { a: 2, b: 3 } }],
  [{ name: 'delete_note', arguments: { note_id: 'note-2' } }],
];

const server = createServer((request, response) => void answer(request, response));

async function answer(request, response) {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { model, messages = [] } = JSON.parse(text || '{}');
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const calls = SCRIPT[results.length] ?? [];
  const message =
    calls.length === 0
      ? { role: 'assistant', content: `The tools said: ${results.join(', and ')}` }
      : {
          role: 'assistant',
          content: null,
          tool_calls: calls.map((call, at) => asked(call, results.length + at)),
        };
  const choices = [{ index: 0, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls', message }];
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id: 'c-1', object: 'chat.completion', created: 1, model, choices, usage }));
}

function asked({ name, arguments: args }, id) {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

server.listen(Number(process.env.MODEL_PORT ?? 8098), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/v1`);
});
