// The client of the SDK's first version, which has tasks of 2025-11-25 itself: what it sees of them, as a line of JSON each.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [at, key] = process.argv.slice(2);
const say = (what, saw) => void process.stdout.write(`${JSON.stringify({ [what]: saw })}\n`);
const client = new Client(
  { name: 'real-client', version: '1.0.0' },
  { capabilities: { elicitation: { url: {} } } },
);
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  say('asked', params.url);
  return { action: 'accept' };
});
const requestInit = { headers: { authorization: `Bearer ${key}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(at), { requestInit }));
await client.listTools();
const { tasks } = client.experimental;

async function asTask(name, args) {
  const seen = [];
  let id;
  const stream = tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, {
    task: { ttl: 60_000 },
  });
  for await (const message of stream) {
    if (message.type === 'taskCreated') id = message.task.taskId;
    if (message.type === 'error') throw message.error;
    seen.push(message.type === 'result' ? message.result.structuredContent : message.type);
  }
  return { id, saw: [seen[0], seen.at(-1)] };
}
const added = await asTask('adds', { a: 40, b: 2 });
say('task', added.saw);
const listed = await tasks.listTasks();
say(
  'listed',
  listed.tasks.some(({ taskId, status }) => taskId === added.id && status === 'completed'),
);
say('approved task', (await asTask('erases', { what: 'z' })).saw);
const stream = tasks.callToolStream({ name: 'lasts', arguments: {} }, CallToolResultSchema, { task: {} });
const { value } = await stream.next();
say('cancelled task', (await tasks.cancelTask(value.task.taskId)).status);
await client.close();
