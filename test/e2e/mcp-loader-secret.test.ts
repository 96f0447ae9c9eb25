// A secret in the URL of an mcp-server loader: the server says all that it was sent, and nothing of it is seen again. In the
// program as it is run, so that its own log is looked at too.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, request, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const SECRETS = { path: 'pathToken-9f8e7d6c5b', query: 'query token+5a4b/3c2d' };
const HIDDEN = /pathToken|9f8e7d|query.{1,3}token|5a4b.{1,3}3c2d/i;

const loopback = new LoopbackServers();
let dir: string;
let gateway: GatewayProcess | undefined;

beforeEach(() => {
  dir = tempDir();
});
afterEach(async () => {
  await gateway?.end();
  removeDir(dir);
});
afterAll(() => loopback.close());

/** Every encoding of `text` that the test can read back. */
function told(text: string): string {
  const bytes = Buffer.from(text);
  return [text, bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')].join(' ');
}

/** What stands in a text, as it is and decoded. */
function seen(text: string): string {
  const words = text.split(/[^\w+/=-]|\[secret\]/).filter((word) => word.length > 8);
  const decoded = words.flatMap((word) =>
    (['hex', 'base64', 'base64url'] as const).map((coding) => Buffer.from(word, coding).toString('latin1')),
  );
  return [text, ...decoded].join('\n');
}

/** An MCP server that says where it was reached, and in its errors too; gone once it is told to be. */
async function tellingServer() {
  const state = { url: '', fails: false };
  const object = { type: 'object' as const, properties: {} };
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'telling', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: ['tell', 'fail'].map((name) => ({ name, description: `Does ${name}.`, inputSchema: object })),
      ttlMs: 60_000,
      cacheScope: 'private',
    }));
    server.setRequestHandler('tools/call', ({ params: { name } }) => ({
      content: [{ type: 'text', text: told(state.url) }],
      isError: name === 'fail',
    }));
    return server;
  });
  const node = toNodeHandler(handler);
  const origin = await loopback.listen(
    createServer((incoming, response) => {
      state.url = incoming.url ?? '';
      if (state.fails) response.writeHead(500).end(`${told(state.url)} is not valid`);
      else void node(incoming, response);
    }),
  );
  return { origin, state };
}

async function started(origin: string) {
  const url = `${origin}/mcp/${SECRETS.path}?key=${encodeURIComponent(SECRETS.query)}`;
  const loader = {
    type: 'mcp-server',
    name: 'telling',
    url: '${env:TEST_MCP_URL}',
    unannotated_risk: 'low',
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
  const settings = { loaders: [loader], log: { level: 'debug' } };
  gateway = new GatewayProcess(dir, { ...configured(dir, settings), TEST_MCP_URL: url });
  return gateway;
}

const keyIn = (text: string) => /ute_live_\w{8}_[\w-]{43}_[0-9a-f]{8}/.exec(text)?.[0] ?? '';
const shown = async (answer: Promise<{ readonly body: unknown }>) =>
  seen(JSON.stringify((await answer).body));

describe('a secret in the URL of an mcp-server loader', () => {
  it('is in no result, dry run, error, status and line of the log', async () => {
    const { origin, state } = await tellingServer();
    const running = await started(origin);
    const { rest } = await running.ready();
    const admin: RestTarget = { url: rest, key: keyIn(running.stderr) };

    const { body } = await callTool(admin, 'telling.tell');
    expect(body.ok).toBe(true);
    // It was there to be found.
    expect(state.url).toContain(SECRETS.path);
    expect(JSON.stringify(body)).toContain('[secret]');
    expect(seen(JSON.stringify(body))).not.toMatch(HIDDEN);
    expect(await shown(callTool(admin, 'telling.fail'))).not.toMatch(HIDDEN);
    const dryRun = request<Envelope>(admin, 'POST', '/v1/tools/telling.tell/execute', {
      arguments: {},
      context: { dry_run: true },
    });
    expect((await dryRun).status).toBe(200);
    expect(await shown(dryRun)).not.toMatch(HIDDEN);

    state.fails = true;
    expect(await shown(callTool(admin, 'telling.tell'))).not.toMatch(HIDDEN);
    for (const [method, path] of [
      ['POST', '/v1/admin/reload'],
      ['GET', '/v1/admin/reload'],
      ['GET', '/v1/admin/definitions'],
      ['GET', '/v1/tools'],
    ] as const)
      expect(await shown(request(admin, method, path))).not.toMatch(HIDDEN);
    running.signal('SIGTERM');
    await running.exited;
    expect(running.stdout).toContain('"msg":"ready"');
    expect(seen(running.stdout + running.stderr)).not.toMatch(HIDDEN);
  });

  it('is not in what a refused start says', async () => {
    const { origin, state } = await tellingServer();
    state.fails = true;
    const running = await started(origin);
    expect(await running.exited).toMatchObject({ code: 1 });
    expect(running.stderr).toContain('telling');
    expect(seen(running.stdout + running.stderr)).not.toMatch(HIDDEN);
  });
});
