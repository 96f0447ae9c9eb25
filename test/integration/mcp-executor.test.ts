// The mcp executor in a whole gateway, with server-everything behind it: in the sandbox on stdio, and over HTTP.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { definitionHash } from '../../src/lib/mcp/mcp-definition.ts';
import { EVERYTHING, FIXTURES, McpBench, nodeServer } from '../helpers/mcp-kit.ts';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const bench = new McpBench();
const dir = tempDir();
let gateway: RunningGateway;
let agent: RestTarget;

/** The real program in its mode streamableHttp; the preload keeps it on loopback and tells its port. */
async function everythingOverHttp(): Promise<string> {
  const preload = join(FIXTURES, 'loopback-only.js');
  const child = await bench.sandbox.spawner.spawn({
    argv: [process.execPath, '--import', preload, EVERYTHING, 'streamableHttp'],
    cwd: '/',
    env: {},
    channel: false,
  });
  child.stdout.resume();
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8');
      const port = /port=(\d+)/.exec(printed)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}/mcp`);
    });
    void child.exited.then(() => reject(new Error(`server-everything ended: ${printed}`)));
  });
}

beforeAll(async () => {
  const connections = {
    local: { type: 'mcp', ...nodeServer(EVERYTHING, ['stdio']) },
    remote: {
      type: 'mcp',
      url: await everythingOverHttp(),
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
    },
  };
  const server = bench.open(nodeServer(EVERYTHING, ['stdio']));
  const { tools } = await server.listTools(AbortSignal.timeout(20_000));
  const sum = tools.find(({ name }) => name === 'get-sum');
  if (sum === undefined) throw new Error('server-everything has no get-sum');
  const tool = (name: string, config: object, more: object = {}) => ({
    name,
    description: 'A tool of server-everything',
    tool_type: 'mcp',
    input_schema: { type: 'object', additionalProperties: true },
    implementation_config: config,
    ...more,
  });
  const weather = {
    type: 'object',
    properties: { temperature: { type: 'number' } },
    required: ['temperature'],
  };
  const wrong = {
    type: 'object',
    properties: { temperature: { type: 'string' } },
    required: ['temperature'],
  };
  const structured = { connection: 'local', tool: 'get-structured-content' };
  const declared = [
    tool('echo', { connection: 'local', tool: 'echo' }),
    tool('remote.echo', { connection: 'remote', tool: 'echo' }),
    tool('weather', structured, { output_schema: weather }),
    tool('weather.wrong', structured, { output_schema: wrong }),
    tool('sum', { connection: 'local', tool: 'get-sum', definition_hash: definitionHash(sum) }),
    tool('sum.changed', { connection: 'local', tool: 'get-sum', definition_hash: '0'.repeat(64) }),
  ];
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, stringify({ connections, tools: declared }));
  gateway = await startGateway({ tools: [path] });
  agent = targetOf(gateway, 'agent');
});
afterAll(async () => {
  await gateway?.stop();
  await bench.close();
  removeDir(dir);
});

describe('tools of server-everything', () => {
  it.each(['echo', 'remote.echo'])('%s answers with content blocks', async (tool) => {
    expect((await callTool(agent, tool, { message: 'hi' })).body).toMatchObject({
      ok: true,
      data: { content: [{ type: 'text', text: 'Echo: hi' }] },
      meta: { executor: 'mcp' },
    });
  });

  it('structured content is the data, and is held to the output schema', async () => {
    const city = { location: 'Chicago' };
    expect((await callTool(agent, 'weather', city)).body).toMatchObject({
      ok: true,
      data: { temperature: expect.any(Number) },
    });
    expect((await callTool(agent, 'weather.wrong', city)).body).toMatchObject({
      ok: false,
      error: { type: 'OUTPUT_INVALID' },
    });
  });

  it('arguments that the server does not take are its own error, in its words', async () => {
    const { status, body } = await callTool(agent, 'sum', { a: 'one' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: false, error: { origin: 'tool', type: 'PERMANENT' } });
    expect(body.error?.message).toMatch(/number/i);
  });

  it('a definition that is the one agreed to is called, any other is not', async () => {
    expect((await callTool(agent, 'sum', { a: 1, b: 2 })).body).toMatchObject({ ok: true });
    const { status, body } = await callTool(agent, 'sum.changed', { a: 1, b: 2 });
    expect({ status, body }).toMatchObject({
      status: 503,
      body: { error: { type: 'UNAVAILABLE', reason: 'TOOL_DEFINITION_CHANGED', retryable: false } },
    });
  });
});
