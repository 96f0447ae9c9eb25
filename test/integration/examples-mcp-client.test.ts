// The configurations of MCP clients that are shown: a client that reads one reaches the gateway, lists its tools and calls one.
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SHOWN = ['examples/mcp-client/README.md', 'docs/mcp-door.md'];
/** What stands there, and is another one's here. */
const URL_SHOWN = 'http://localhost:8080';
const KEY_SHOWN = 'ute_live_…';

type Server =
  | { readonly type: 'http'; readonly url: string; readonly headers: Record<string, string> }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Record<string, string>;
    };

let gateway: RunningGateway;
/** Where `ute` is, as an installed package has it. */
let bin: string;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['test/fixtures/mcp-door/tools.yaml'] });
  bin = tempDir();
  const program = join(ROOT, 'dist/cli/main.js');
  chmodSync(program, 0o755);
  symlinkSync(program, join(bin, 'ute'));
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(bin);
});

/** Of all configurations that a page shows, as a client reads them. */
function serversIn(page: string, { url, key }: { readonly url: string; readonly key: string }) {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```json\n(.*?)^```$/gms)];
  return blocks
    .map(([, block = '']) => block.replaceAll(URL_SHOWN, url).replaceAll(KEY_SHOWN, key))
    .filter((block) => block.includes('mcpServers'))
    .flatMap((block) =>
      Object.values((JSON.parse(block) as { mcpServers: Record<string, Server> }).mcpServers),
    );
}

function transportOf(server: Server): Transport {
  if (!('command' in server))
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: server.headers },
    });
  const { command, args, env } = server;
  const path = [bin, process.env['PATH']].join(delimiter);
  return new StdioClientTransport({ command, args: [...args], env: { PATH: path, ...env } });
}

describe.each(SHOWN)('%s', (page) => {
  it.each(['http', 'stdio'])('shows what a client by %s needs to list the tools and call one', async (by) => {
    const own = { url: gateway.url, key: gateway.keys.agent.text };
    const servers = serversIn(page, own).filter((server) => 'command' in server === (by === 'stdio'));
    expect(servers).toHaveLength(1);
    for (const server of servers) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(transportOf(server));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('forecast');
      const answer = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
      expect(answer.isError).not.toBe(true);
      expect(answer.structuredContent).toBeDefined();
      await client.close();
    }
  });

  it('shows no key that anybody could use: without one of their own a client is refused', async () => {
    const [server] = serversIn(page, { url: gateway.url, key: 'ute_live_nobody' });
    if (server === undefined) throw new Error('nothing is shown');
    const client = new Client({ name: 'test', version: '1.0.0' });
    await expect(client.connect(transportOf(server))).rejects.toThrow(/401|Unauthorized|credential/i);
  });
});
