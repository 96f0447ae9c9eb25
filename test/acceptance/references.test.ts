// What came into a connection by reference is secret wherever it could appear: in results, dry runs, errors, problems of
// a load and what the management side shows.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

// Their ends are none that a hash in hexadecimal could hold by chance.
const PATH_SECRET = 'pathToken/with space+9qx8';
const QUERY_SECRET = 'query-token+5zk4yj3xw';
const FILE_SECRET = 'file-token-"quoted"-77';
const HIDDEN = /pathToken|9qx8|query-token|5zk4yj|file-token|quoted/;

let servers: LoopbackServers;
let gateway: RunningGateway;
let dir: string;

beforeAll(async () => {
  servers = new LoopbackServers();
  // Tells its caller all that it was told, in several encodings, and fails in the same words.
  const echo = await servers.http((incoming, response) => {
    const told = `${decodeURIComponent(incoming.url ?? '')} ${String(incoming.headers['x-file'])}`;
    const raw = Buffer.from(incoming.url ?? '');
    const encoded = { hex: raw.toString('hex'), base64url: raw.toString('base64url') };
    const body = { url: incoming.url, told, base64: Buffer.from(told).toString('base64'), ...encoded };
    response.statusCode = incoming.url?.includes('fail') === true ? 500 : 200;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  dir = mkdtempSync(join(tmpdir(), 'ute-references-'));
  writeFileSync(join(dir, 'token'), `${FILE_SECRET}\n`);
  process.env['TEST_REFERENCE_PATH'] = PATH_SECRET;
  process.env['TEST_REFERENCE_QUERY'] = QUERY_SECRET;
  const schema = { type: 'object', properties: { q: { type: 'string' } } };
  const tool = (name: string, path: string) => ({
    name,
    description: name,
    tool_type: 'http',
    input_schema: schema,
    metadata: { category: 'retrieval' },
    implementation_config: { connection: 'secretive', path, query: { q: '{q}' } },
  });
  const tools = {
    connections: {
      secretive: {
        type: 'http',
        base_url: `${echo}/q/\${env:TEST_REFERENCE_PATH}`,
        headers: { 'X-File': '${file:token}', 'User-Agent': 'ute ${env:TEST_REFERENCE_QUERY}' },
        auth: { type: 'api_key', in: 'query', name: 'key', value: '${env:TEST_REFERENCE_QUERY}' },
        allow_private: ['127.0.0.0/8', '::1/128'],
        allow_ports: ['1-65535'],
      },
    },
    tools: [tool('echo', '/ok'), tool('fails', '/fail')],
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify(tools));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
});

afterAll(async () => {
  await gateway?.stop();
  await servers.close();
  rmSync(dir, { recursive: true, force: true });
  delete process.env['TEST_REFERENCE_PATH'];
  delete process.env['TEST_REFERENCE_QUERY'];
});

describe('what came from a reference', () => {
  it('is not in a result, in whichever encoding the upstream gives it back', async () => {
    const { body } = await callTool(targetOf(gateway), 'echo', { q: 'hello' });
    expect(body.ok).toBe(true);
    const { url, told, base64, hex, base64url } = body.data as Record<string, string>;
    expect(url).toMatch(/^\/q\/\[secret\]\/ok\?q=hello&key=\[secret\]$/);
    expect(`${told} ${Buffer.from(base64 ?? '', 'base64').toString('latin1')}`).not.toMatch(HIDDEN);
    // The URL as it was sent, in which the secrets are percent-encoded.
    const sent = (hex ?? '').split('[secret]').map((part) => Buffer.from(part, 'hex'));
    const parts = (base64url ?? '').split('[secret]').map((part) => Buffer.from(part, 'base64url'));
    expect([...sent, ...parts].map((part) => part.toString('latin1')).join(' ')).not.toMatch(HIDDEN);
    expect([hex, base64url]).toEqual([
      expect.stringContaining('[secret]'),
      expect.stringContaining('[secret]'),
    ]);
  });

  it('is not in what a dry run would do', async () => {
    const answer = await request<Envelope>(targetOf(gateway), 'POST', '/v1/tools/echo/execute', {
      arguments: { q: 'hello' },
      context: { dry_run: true },
    });
    expect(JSON.stringify(answer.body)).toMatch(/\/q\/\[secret\]\/ok\?q=hello&key=\[secret\]/);
    expect(JSON.stringify(answer.body)).not.toMatch(HIDDEN);
  });

  it('is not in an error', async () => {
    const { body } = await callTool(targetOf(gateway), 'fails', { q: 'hello' });
    expect(body.error).toMatchObject({ reason: 'HTTP_500' });
    expect(JSON.stringify(body)).not.toMatch(HIDDEN);
  });

  it('is not in a recording of the call', async () => {
    const admin = targetOf(gateway);
    const begun = await request<{ name: string }>(admin, 'POST', '/v1/admin/recordings', { name: 'refs' });
    expect(begun.status).toBeLessThan(300);
    await callTool(admin, 'echo', { q: 'recorded' });
    const { name } = begun.body;
    const file = await fetch(`${gateway.url}/v1/admin/recordings/${name}`, {
      headers: { authorization: `Bearer ${admin.key}` },
    });
    const text = await file.text();
    expect(text).toContain('recorded');
    expect(text).not.toMatch(HIDDEN);
  });

  it('is nowhere on the management side', async () => {
    const paths = ['/v1/tools', '/v1/tools/echo', '/v1/admin/circuits', '/v1/admin/reload', '/v1/pipeline'];
    for (const path of [...paths, '/readyz', '/v1/calls', '/v1/audit']) {
      const response = await fetch(`${gateway.url}${path}`, {
        headers: { authorization: `Bearer ${gateway.keys.admin.text}` },
      });
      expect(await response.text()).not.toMatch(HIDDEN);
    }
  });

  it('is not in the reason why a tool cannot be loaded', async () => {
    const tools = {
      connections: { bad: { type: 'http', base_url: 'http://localhost/${env:TEST_REFERENCE_PATH}/v1' } },
      tools: [
        {
          name: 'bad',
          description: 'bad',
          tool_type: 'http',
          input_schema: { type: 'object', properties: {} },
          implementation_config: { connection: 'bad', path: '/a/../b' },
        },
      ],
    };
    writeFileSync(join(dir, 'bad.yaml'), stringify(tools));
    const failure: unknown = await startGateway({ tools: [join(dir, 'bad.yaml')] }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Error);
    expect(JSON.stringify(failure)).toMatch(/expected the path as it is sent/);
    expect(JSON.stringify(failure)).not.toMatch(HIDDEN);
  });
});
