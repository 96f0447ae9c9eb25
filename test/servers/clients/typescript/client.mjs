// The official client in TypeScript, in the era that is asked for: what it sees of each thing that docs/mcp-door.md promises, as a line of JSON.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';

const [at, key, mode] = process.argv.slice(2);
const url = new URL(at);
const authorization = `Bearer ${key}`;
const clientInfo = { name: 'real-client', version: '1.0.0' };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const URLS = { elicitation: { url: {} } };

const say = (what, saw) => void process.stdout.write(`${JSON.stringify({ [what]: saw })}\n`);
/** A person, who goes where the client sends them. */
const accept = ({ params }) => {
  say('asked', params.url);
  return { action: 'accept' };
};

async function connected(capabilities) {
  const client = new Client(clientInfo, { versionNegotiation: { mode }, capabilities });
  if (capabilities.elicitation !== undefined) client.setRequestHandler('elicitation/create', accept);
  const requestInit = { headers: { authorization } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

/** What the SDK has no words for goes past it, as ext-tasks asks for: one request, by HTTP. */
let last = 0;
async function rawDispatch(request, { signal } = {}) {
  last += 1;
  const { method, params = {} } = request;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...((params.taskId ?? params.name) !== undefined && { 'mcp-name': params.taskId ?? params.name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: last, method, params }),
    signal,
  });
  const { result, error } = await response.json();
  return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
}

const client = await connected(URLS);
say('version', client.getNegotiatedProtocolVersion());
const { tools } = await client.listTools();
say(
  'tools',
  tools.map(({ name }) => name),
);
say('structured', (await client.callTool({ name: 'adds', arguments: { a: 1, b: 2 } })).structuredContent);
const invalid = await client.callTool({ name: 'adds', arguments: { a: 'one' } });
say('invalid', [invalid.isError, invalid.content[0].text.split(':')[0]]);
const heard = [];
const told = { onprogress: ({ message }) => void heard.push(message) };
await client.callTool({ name: 'tells', arguments: {} }, told);
say('progress', heard);
const aborted = new AbortController();
const lasting = client.callTool(
  { name: 'lasts', arguments: {} },
  { signal: aborted.signal, onprogress: () => aborted.abort() },
);
say(
  'cancelled',
  await lasting.then(
    () => false,
    () => true,
  ),
);
say('approved', (await client.callTool({ name: 'erases', arguments: { what: 'x' } })).structuredContent);

const taking = await connected({ ...URLS, ...TASKS });
const raw = {
  rawDispatch,
  v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: { ...URLS, ...TASKS } },
};
const session = createTaskSessionFromClient(taking, {
  endpointId: 'gateway',
  onInputRequest: async (request) => accept(request),
  ...(mode === 'auto' && raw),
});
/** In 2025-11-25 the client asks for a task; in 2026-07-28 the gateway decides. */
const wish = mode === 'auto' ? {} : { task: { preference: 'require' } };
async function asTask(name, args) {
  const execution = await session.callTool(name, args, wish);
  const { outcome } = await execution.settle();
  return [execution.kind, resultFromTaskOutcome(outcome).structuredContent];
}
say('task', await asTask('adds', { a: 40, b: 2 }));
// Of 2025-11-25 this package does not ask for the result of a task that needs input, and so is not asked itself.
if (mode === 'auto') say('approved task', await asTask('erases_slowly', { what: 'y' }));
const stopped = await session.callTool('lasts', {}, wish);
await stopped.cancel();
say(
  'cancelled task',
  await stopped.settle().then(
    ({ outcome }) => outcome.status ?? outcome,
    ({ name }) => name,
  ),
);
await session.close();
await Promise.all([client.close(), taking.close()]);
