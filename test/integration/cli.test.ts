// The command line against a real HTTP server, and `ute validate` with the server's own checks.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';

let cwd: string;
let server: Server;
let url: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'ute-cli-'));
  server = createServer((request, response) => {
    if (request.url === '/moved/v1/tools/now/execute') {
      response.writeHead(307, { location: '/v1/tools/now/execute' }).end();
      return;
    }
    void json(request).then((body) => {
      const { authorization = '' } = request.headers;
      const data = { path: request.url ?? '', authorization, body: body as object };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ok: true, data, intents: [], meta: {} }));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(cwd, { recursive: true });
});

async function ute(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const out = { stdout: '', stderr: '' };
  const code = await run(argv, {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    fetch,
    env: { UTE_API_KEY: 'k' },
    cwd,
  });
  return { code, ...out };
}

describe('ute call over HTTP', () => {
  it('brings the call to the gateway and the envelope back', async () => {
    const { code, stdout } = await ute('call', 'calculate_sum', '{"a":1}', '--url', url);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      data: {
        path: '/v1/tools/calculate_sum/execute',
        authorization: 'Bearer k',
        body: { arguments: { a: 1 }, context: {} },
      },
    });
  });

  it('takes the key nowhere else: a redirect is an error', async () => {
    const { code, stderr } = await ute('call', 'now', '--url', `${url}/moved`);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot be reached');
  });

  it('ends with 1 when nobody listens', async () => {
    const unused = createServer();
    await new Promise<void>((listening) => unused.listen(0, '127.0.0.1', listening));
    const { port } = unused.address() as AddressInfo;
    await new Promise((closed) => unused.close(closed));
    const { code, stderr } = await ute('call', 'now', '--url', `http://127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(stderr).toContain('ECONNREFUSED');
  });

  it('runs as a program', async () => {
    const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const argv = [main, 'call', 'now', '--json', '--url', url];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { UTE_API_KEY: 'k' } });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });
});

describe('ute validate', () => {
  const good = `tools:
  - name: greet
    description: Says hello.
    tool_type: composite
    input_schema: { type: object, properties: { name: { type: string } }, required: [name] }
    implementation_config: { steps: [{ id: one, tool: hello }] }
`;

  it('ends with 0 for tools that the server would take', async () => {
    await writeFile(join(cwd, 'good.yaml'), good);
    expect(await ute('validate', 'good.yaml')).toEqual({ code: 0, stdout: 'ok: 1 tool\n', stderr: '' });
    const { code, stdout } = await ute('validate', 'good.yaml', '--json');
    expect({ code, report: JSON.parse(stdout) }).toEqual({
      code: 0,
      report: { ok: true, tools: 1, problems: [] },
    });
  });

  it('names file, line and column, tool and path of every problem and ends with 1', async () => {
    await writeFile(
      join(cwd, 'bad.yaml'),
      good.replace('tool_type: composite', 'tool_type: no_such_executor'),
    );
    const { code, stdout } = await ute('validate', 'bad.yaml');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^bad\.yaml:4:\d+ {2}greet {2}tool_type: .*no_such_executor/);
    const report = JSON.parse((await ute('validate', 'bad.yaml', '--json')).stdout) as {
      problems: unknown[];
    };
    expect(report).toMatchObject({ ok: false, problems: [{ line: 4, tool: 'greet', path: 'tool_type' }] });
  });

  it('warns of what model providers refuse, with the provider and the place, and ends with 0', async () => {
    await writeFile(join(cwd, 'refused.yaml'), good.replace('{ type: string }', '{ type: array }'));
    const { code, stdout } = await ute('validate', 'refused.yaml');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'warning: refused.yaml:5:55  greet  input_schema.properties.name: OpenAI, Gemini, Bedrock and Mistral refuse this: ' +
        'an array without items; its items are anything: say what they are\nok: 1 tool\n',
    });
    const report = JSON.parse((await ute('validate', 'refused.yaml', '--json')).stdout) as object;
    expect(report).toMatchObject({ ok: true, advice: [{ line: 5, tool: 'greet' }], more_advice: 0 });
  });

  it('ends with 1 for a file that is not there or is not YAML', async () => {
    expect(await ute('validate', 'missing.yaml')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('missing.yaml'),
    });
    await writeFile(join(cwd, 'broken.yaml'), 'tools: [');
    expect(await ute('validate', 'broken.yaml')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('broken.yaml'),
    });
  });

  describe('with a gateway.yaml', () => {
    const openapi = JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'T', version: '1' },
      servers: [{ url: 'https://api.example.com' }],
      paths: { '/a': { get: { operationId: 'of_openapi', responses: {} } } },
    });

    async function config(...loaders: object[]): Promise<string> {
      await writeFile(join(cwd, 'files.yaml'), good);
      await writeFile(join(cwd, 'api.json'), openapi);
      await writeFile(join(cwd, 'gateway.yaml'), JSON.stringify({ loaders }));
      return 'gateway.yaml';
    }

    const files = { type: 'yaml-file', paths: ['files.yaml'] };
    const document = { type: 'openapi', document: 'api.json' };

    it('checks what every loader of it brings', async () => {
      const { code, stdout } = await ute('validate', '--config', await config(files, document));
      expect([stdout, code]).toEqual(['ok: 2 tools\n', 0]);
    });

    it('leaves out the loaders that ask the network, and says so', async () => {
      const away = {
        type: 'http',
        url: 'http://127.0.0.1:1/tools.yaml',
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1-65535'],
      };
      const api = { type: 'openapi', document: { url: 'http://127.0.0.1/api.json' } };
      const file = await config(files, away, document, api);
      const { code, stdout } = await ute('validate', '--config', file);
      expect(stdout.split('\n')).toEqual([
        'skipped: loaders.1 (http) asks the network; --online includes it',
        'skipped: loaders.3 (openapi) asks the network; --online includes it',
        'ok: 2 tools',
        '',
      ]);
      expect(code).toBe(0);
      const report = JSON.parse((await ute('validate', '--config', file, '--json')).stdout) as object;
      expect(report).toMatchObject({ ok: true, skipped: ['loaders.1 (http)', 'loaders.3 (openapi)'] });
    });

    it('asks them with --online', async () => {
      const away = {
        type: 'http',
        url: 'http://127.0.0.1:1/tools.yaml',
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1-65535'],
      };
      const { code, stdout } = await ute('validate', '--online', '--config', await config(files, away));
      expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:1\/tools\.yaml {2}cannot be fetched/);
      expect(code).toBe(1);
    });

    it('names the place of an option that is wrong', async () => {
      const { code, stdout } = await ute(
        'validate',
        '--config',
        await config({ type: 'http', url: 'ftp://x' }),
      );
      expect(stdout).toMatch(/:\d+:\d+ {2}loaders\.0\.url: Expected an http or https URL/);
      expect(code).toBe(1);
    });
  });

  it('checks config/tools.yaml when no path is given', async () => {
    const { code, stdout } = await ute('validate');
    expect(code).toBe(1);
    expect(stdout).toContain('config/tools.yaml');
  });
});
