// Nothing that comes back holds the event loop: no upstream's answer, however large it may be and whatever it is made of, no
// message of an MCP server, and no call of many steps.
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { leastHeldBy, LOOP_PROBE } from '../helpers/held-loop.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const MOST_MS = 50;
const MIB = 1 << 20;
/** What an operator may allow at most. */
const MOST_BYTES = 64 * MIB;
const SECRET = 'a-secret-of-the-connection';

const list = (item: string, bytes: number) => `[${`${item},`.repeat(bytes / (item.length + 1) - 1)}${item}]`;
const names = (count: number) =>
  `{${Array.from({ length: count }, (_, at) => `"name ${at}":${at}`).join(',')}}`;
const ANSWERS: Readonly<Record<string, string>> = {
  'as many names as may be': names(20_000),
  'more names than may be': names(500_000),
  'as many empty objects as may be': list('{}', 99_000 * 3),
  'more empty objects than may be': list('{}', MOST_BYTES),
  'small objects': list('{"id":1,"on":true}', 66_000 * 19),
  numbers: list('1.234567890123', 199_000 * 15),
  'numbers beyond a double': list('9007199254740993', 199_000 * 17),
  'texts with escapes': list(`"${'\\u0061'.repeat(50)}"`, 199_000 * 303),
  'brackets that never close': '['.repeat(MOST_BYTES),
  'brackets that open and close': list(`${'['.repeat(60)}${']'.repeat(60)}`, 3_200 * 121),
  'a string of escapes': `"${'\\"'.repeat(4 * MIB)}"`,
  'a string of escaped escapes': `["${'\\\\u0061'.repeat(MIB)}"]`,
  'a number without end': `[${'9'.repeat(MOST_BYTES - 2)}]`,
  'blanks without end': `[${' '.repeat(MOST_BYTES - 2)}]`,
};
const KINDS = Object.keys(ANSWERS);

/** Under "v" of the structured content: what an MCP server says, on stdio and over HTTP. */
const MESSAGES: Readonly<Record<string, string>> = {
  'as many names as may be': names(20_000),
  'more names than may be': names(200_000),
  'as many empty objects as may be': list('{}', 99_000 * 3),
  'more empty objects than may be': list('{}', 4_000_000),
  'a string of escapes': `"${'\\"'.repeat(1_900_000)}"`,
  'a number without end': `[${'9'.repeat(4_000_000)}]`,
  'one long text': `"${'z'.repeat(4_000_000)}"`,
  fractions: list('1.234567890123', 199_000 * 15),
};
const MESSAGE_KINDS = Object.keys(MESSAGES);
/** What an event stream brings without end, and without the answer. */
const FLOODS: Readonly<Record<string, string>> = {
  'blank lines': '\n'.repeat(65_536),
  comments: ':\n\n'.repeat(20_000),
  'events of another kind': 'event: x\ndata: 1\n\n'.repeat(4_000),
  'events that are no messages': 'data: 1\n\n'.repeat(6_000),
  notifications:
    `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(1_000)}"}}\n\n`.repeat(
      60,
    ),
};
const FLOOD_KINDS = Object.keys(FLOODS);
interface Asked {
  readonly id?: number | string;
  readonly method?: string;
  readonly params: { readonly arguments: { readonly at: number } };
}
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 's', version: '1' },
};
const TOOLS = [{ name: 'say', inputSchema: { type: 'object' } }];
const MCP_SERVER = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (id, result) => process.stdout.write(\`{"jsonrpc":"2.0","id":\${id},"result":\${result}}\\n\`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say(id, '${JSON.stringify(INITIALIZED)}');
  if (method === 'tools/list') say(id, '${JSON.stringify({ tools: TOOLS })}');
  if (method === 'ping') say(id, '{}');
  if (method !== 'tools/call') return;
  const value = readFileSync(new URL(\`message-\${params.arguments.at}.json\`, import.meta.url), 'utf8');
  say(id, \`{"content":[],"structuredContent":{"v":\${value}}}\`);
});
`;

let dir: string;
let servers: LoopbackServers;
let gateway: GatewayProcess;
let rest: string;

beforeAll(async () => {
  dir = tempDir();
  servers = new LoopbackServers();
  const upstream = await servers.http((request, response) => {
    const answer = ANSWERS[KINDS[Number(request.url?.slice(1))] ?? ''];
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const reach = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const upstreamConnection = { type: 'http', base_url: upstream, headers: { 'x-key': SECRET }, ...reach };
  const tools = KINDS.map((description, at) => ({
    name: `answer_${at}`,
    description,
    tool_type: 'http',
    implementation_config: { connection: 'upstream', path: `/${at}`, max_response_bytes: MOST_BYTES },
    metadata: { category: 'retrieval' },
  }));
  writeFileSync(join(dir, 'server.mjs'), MCP_SERVER);
  for (const [at, kind] of MESSAGE_KINDS.entries())
    writeFileSync(join(dir, `message-${at}.json`), MESSAGES[kind] ?? '');
  const server = {
    type: 'mcp',
    command: process.execPath,
    args: [join(dir, 'server.mjs')],
    env: { API_TOKEN: SECRET },
    sandbox: 'off',
  };
  const said = (name: string, connection: string) => ({
    name,
    description: 'What the server says',
    tool_type: 'mcp',
    input_schema: { type: 'object', properties: { at: { type: 'integer' } } },
    implementation_config: { connection, tool: 'say' },
    metadata: { category: 'retrieval' },
  });
  const far = await servers.http(mcpServer);
  const farServer = (path: string) => ({
    type: 'mcp',
    url: `${far}/${path}`,
    headers: { 'x-key': SECRET },
    ...reach,
  });
  const pair = {
    name: 'pair',
    description: 'Two steps that wait for nothing',
    tool_type: 'javascript',
    implementation_config: { handler: './one.js', trusted: true },
    metadata: { category: 'retrieval' },
  };
  writeFileSync(join(dir, 'one.js'), 'export const execute = () => 1;\n');
  const steps = (name: string, tool: string) => ({
    name,
    description: 'Many steps',
    tool_type: 'composite',
    input_schema: { type: 'object', properties: { list: { type: 'array' } } },
    implementation_config: {
      steps: [
        {
          id: 'all',
          tool,
          for_each: 'input.list',
          concurrency: 10,
          on_error: 'continue',
          arguments: tool === 'pair' ? {} : { list: { $: 'input.list' } },
        },
      ],
    },
    metadata: { category: 'retrieval' },
  });
  const elsewhere = {
    json: farServer('json'),
    events: farServer('events'),
    flood: { ...farServer('flood'), max_message_bytes: MIB },
  };
  const connections = { upstream: upstreamConnection, server, ...elsewhere };
  const overHttp = Object.keys(elsewhere).map((connection) => said(`said_${connection}`, connection));
  const others = [
    said('said', 'server'),
    ...overHttp,
    pair,
    steps('many', 'pair'),
    steps('more', 'many'),
    steps('most', 'more'),
  ];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections, tools: [...tools, ...others] }));
  // A loop that is held sheds load, and a call that is refused holds nothing.
  const limits = { max_result_bytes: MOST_BYTES, shed_at_lag_ms: 10_000 };
  const settings = { auth: { mode: 'none' }, limits };
  gateway = new GatewayProcess(dir, { ...configured(dir, settings), ...LOOP_PROBE });
  ({ rest } = await gateway.ready(60_000));
});

afterAll(async () => {
  await gateway.end();
  await servers.close();
  removeDir(dir);
});

/** Over HTTP: answers as JSON, or as an event stream, or with a stream that brings everything else. */
function mcpServer(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const { id, method, params } = JSON.parse(text === '' ? '{}' : text) as Asked;
    const say = (result: string, how: string | undefined) => {
      const message = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
      const isStream = how === '/events';
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
      response.end(isStream ? `data: ${message}\n\n` : message);
    };
    if (method === 'initialize') return say(JSON.stringify(INITIALIZED), undefined);
    if (method === 'tools/list') return say(JSON.stringify({ tools: TOOLS }), undefined);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (method !== 'tools/call') return void response.writeHead(id === undefined ? 202 : 400).end();
    if (request.url === '/flood')
      return flood(response, FLOODS[FLOOD_KINDS[params.arguments.at] ?? ''] ?? '');
    const value = MESSAGES[MESSAGE_KINDS[params.arguments.at] ?? ''];
    say(`{"content":[],"structuredContent":{"v":${value}}}`, request.url);
  });
}

function flood(response: ServerResponse, part: string): void {
  response.setHeader('content-type', 'text/event-stream');
  const pour = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on('drain', pour);
  pour();
}

async function call(tool: string, args: object = {}): Promise<{ status: number; bytes: number }> {
  const response = await fetch(`${rest}/v1/tools/${tool}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  });
  const { byteLength: bytes } = await response.arrayBuffer();
  return { status: response.status, bytes };
}

async function measured(run: () => Promise<{ status: number; bytes: number }>) {
  const held = await leastHeldBy(gateway, MOST_MS, run);
  const { status, bytes } = await run();
  // Either the whole answer or a short refusal.
  return { held, isWholeOrRefused: status === 200 ? bytes > MIB / 8 : bytes < 2_000 };
}

describe('the event loop is not held by an answer of', () => {
  it.each(KINDS.map((kind, at) => ({ kind, at })))('$kind', async ({ at }) => {
    const { held, isWholeOrRefused } = await measured(() => call(`answer_${at}`));
    expect(held).toBeLessThan(MOST_MS);
    expect(isWholeOrRefused).toBe(true);
  });
});

describe.each([
  { tool: 'said', how: 'on stdio' },
  { tool: 'said_json', how: 'over HTTP, as JSON' },
  { tool: 'said_events', how: 'over HTTP, as an event' },
])('the event loop is not held by a message of an MCP server $how, with', ({ tool }) => {
  it.each(MESSAGE_KINDS.map((kind, at) => ({ kind, at })))('$kind', async ({ at }) => {
    const { held, isWholeOrRefused } = await measured(() => call(tool, { at }));
    expect(held).toBeLessThan(MOST_MS);
    expect(isWholeOrRefused).toBe(true);
  });
});

describe('the event loop is not held by an event stream of an MCP server that ends with no answer, of', () => {
  it.each(FLOOD_KINDS.map((kind, at) => ({ kind, at })))('$kind, and it is cut off', async ({ at }) => {
    const run = async () => expect(await call('said_flood', { at })).toMatchObject({ status: 502 });
    expect(await leastHeldBy(gateway, MOST_MS, run)).toBeLessThan(MOST_MS);
  });
});

describe('the event loop is not held by a call of many steps', () => {
  it('that run at once and wait for nothing', async () => {
    const args = { list: Array.from({ length: 100 }, (_, at) => at) };
    const held = await leastHeldBy(gateway, MOST_MS, () => call('most', args));
    expect(held).toBeLessThan(MOST_MS);
  });
});
