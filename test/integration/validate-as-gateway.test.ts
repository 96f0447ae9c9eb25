// `ute validate` and a running gateway on the same declarations and settings: what one refuses, the other does, in one text.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface Report {
  readonly ok: boolean;
  readonly problems: readonly object[];
}

let dir: string;
let tools: string;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = tempDir();
  tools = join(dir, 'tools.yaml');
  writeFileSync(join(dir, 'echo.js'), ECHO_HANDLER);
  writeFileSync(tools, 'tools: []\n');
  gateway = await startGateway({ tools: [tools] });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

async function ute(argv: readonly string[], env: Readonly<Record<string, string>>, cwd = ROOT) {
  const out = { stdout: '', stderr: '' };
  const code = await run(argv, {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    fetch,
    env,
    cwd,
  });
  return { code, ...out };
}

/** What each says of the declarations that the file holds now. */
async function verdicts(text: string): Promise<{ readonly gateway: Report; readonly validate: Report }> {
  writeFileSync(tools, text);
  const reload = await request<Report>(targetOf(gateway), 'POST', '/v1/admin/reload');
  const { stdout, stderr, code } = await ute(['validate', '--json'], {
    UTE_CONFIG: join(gateway.dir, 'gateway.yaml'),
  });
  expect(stderr).toBe('');
  const validate = JSON.parse(stdout) as Report;
  expect(code).toBe(validate.ok ? 0 : 1);
  const of = ({ ok, problems }: Report): Report => ({ ok, problems });
  return { gateway: of(reload.body), validate: of(validate) };
}

it('leaves the data directory of the gateway as it is, and makes none', async () => {
  const own = tempDir();
  const text = `log: { level: silent }\ndata_dir: data\nloaders: [{ type: yaml-file, paths: ['${tools}'] }]\n`;
  writeFileSync(join(own, 'gateway.yaml'), text);
  const { code, stderr } = await ute(['validate'], { UTE_CONFIG: join(own, 'gateway.yaml') }, own);
  expect({ code, stderr, left: readdirSync(own) }).toEqual({ code: 0, stderr: '', left: ['gateway.yaml'] });
  removeDir(own);
});

it('refuses a database that one process alone can hold where several serve, before a gateway does', async () => {
  const own = tempDir();
  const embedded = 'connections:\n  notes:\n    type: embedded\ntools: []\n';
  writeFileSync(join(own, 'tools.yaml'), embedded);
  writeFileSync(join(own, 'gateway.yaml'), 'log: { level: silent }\nprocesses: 2\n');
  const shared = { UTE_REDIS_URL: 'redis://127.0.0.1:1', UTE_DATABASE_URL: 'postgres://u@127.0.0.1:1/d' };
  const at = (more: Readonly<Record<string, string>>) =>
    ute(['validate', '--json'], { UTE_CONFIG: join(own, 'gateway.yaml'), ...shared, ...more }, own);
  const { code, stdout } = await at({});
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as Report).problems).toEqual([
    {
      file: 'tools.yaml',
      line: 3,
      column: 11,
      path: 'connections.notes.type',
      message: expect.stringMatching(/^type "embedded": 2 processes serve here, and one alone/) as string,
    },
  ]);
  expect((await at({ UTE_PROCESSES: '1' })).code).toBe(0);
  removeDir(own);
});

const CONNECTIONS = `connections:
  db: { type: postgres, url: 'postgres://u:p@127.0.0.1:1/d' }
  server: { type: mcp, url: 'https://mcp.example.com/' }
  api: { type: http, base_url: 'https://api.example.com:8443/' }
`;

function toolOf(type: string, config: string, more = ''): string {
  return `${CONNECTIONS}tools:
  - name: bad
    description: One
    tool_type: ${type}
    input_schema: { type: object, properties: { id: { type: string } } }
    implementation_config: ${config}
${more}`;
}

const ACTIONS = '    actions: [{ name: go, description: Goes }]\n';
const withActions = (type: string, config: string) =>
  toolOf(type, config, ACTIONS).replace(/ {4}input_schema.*\n/, '');

describe('what the gateway refuses, ute validate refuses in the same words', () => {
  it.each([
    ['shell, a program that is not there', toolOf('shell', '{ command: [no-such-program] }')],
    ['shell, a slot of no parameter', toolOf('shell', "{ command: [cat, '{idd}'] }")],
    [
      'shell, text that would be an option',
      toolOf('shell', "{ command: [cat, '{id}'], slots: { id: text } }"),
    ],
    [
      'shell, more than the gateway allows',
      toolOf('shell', '{ command: [cat], limits: { cpu_seconds: 86400 } }'),
    ],
    ['shell, actions that the tool has not', toolOf('shell', '{ actions: { go: { command: [cat] } } }')],
    ['shell, an action without a command', withActions('shell', '{ actions: { stop: { command: [cat] } } }')],
    [
      'http, a port that egress refuses',
      toolOf('http', "{ method: GET, url: 'https://example.com:8443/a' }"),
    ],
    ['http, a connection that egress refuses', toolOf('http', '{ method: GET, connection: api, path: /a }')],
    ['http, a slot in the host', toolOf('http', "{ method: GET, url: 'https://{id}.example.com/' }")],
    ['http, a connection that is not there', toolOf('http', '{ method: GET, connection: none, path: /a }')],
    ['composite, a step that calls itself', toolOf('composite', '{ steps: [{ id: a, tool: bad }] }')],
    [
      'composite, a step that is not before it',
      toolOf('composite', "{ steps: [{ id: a, tool: x, arguments: { y: { $: 'steps.b.z' } } }] }"),
    ],
    [
      'composite, an expression that is none',
      toolOf('composite', "{ steps: [{ id: a, tool: x, when: 'input.[' }] }"),
    ],
    ['composite, actions', withActions('composite', '{ steps: [{ id: a, tool: x }] }')],
    ['javascript, a file that is not there', toolOf('javascript', '{ handler: ./none.js }')],
    ['javascript, an export that is not there', toolOf('javascript', '{ handler: ./echo.js, export: none }')],
    [
      'javascript, trusted code that is not there',
      toolOf('javascript', '{ handler: ./echo.js, export: none, trusted: true }'),
    ],
    ['python, a module that is not there', toolOf('python', '{ module: no_such_module, function_name: f }')],
    ['python, a function that is not there', toolOf('python', '{ module: math_tools, function_name: none }')],
    [
      'python, arguments that it does not take',
      toolOf('python', '{ module: math_tools, function_name: calculate_sum }'),
    ],
    ['sql, a syntax error', toolOf('sql', "{ connection: db, statement: 'SELEC 1' }")],
    ['sql, two statements', toolOf('sql', "{ connection: db, statement: 'SELECT 1; SELECT 2' }")],
    ['sql, a connection of another type', toolOf('sql', "{ connection: api, statement: 'SELECT 1' }")],
    ['mcp, actions', withActions('mcp', '{ connection: server, tool: x }')],
    ['mcp, a connection that is not there', toolOf('mcp', '{ connection: none, tool: x }')],
    ['an executor that is not there', toolOf('none', '{}')],
    [
      'an extension that is not there',
      toolOf('javascript', '{ handler: ./echo.js }', '    extensions: { none: {} }\n'),
    ],
    ['an empty file', ''],
    ['text that is not YAML', 'tools:\n\t- name: x\n'],
  ])('%s', async (_case, text) => {
    const said = await verdicts(text);
    expect(said.gateway.ok).toBe(false);
    expect(said.validate).toEqual(said.gateway);
  });
});

describe('what the gateway takes, ute validate takes', () => {
  it.each([
    ['shell', toolOf('shell', '{ command: [cat] }')],
    ['http', toolOf('http', "{ method: GET, url: 'https://example.com/{id}' }")],
    ['composite, of a tool that may come later', toolOf('composite', '{ steps: [{ id: a, tool: later }] }')],
    ['javascript', toolOf('javascript', '{ handler: ./echo.js }')],
    ['sql, of a server that is away', toolOf('sql', "{ connection: db, statement: 'SELECT {id}' }")],
    ['mcp, of a server that is away', toolOf('mcp', '{ connection: server, tool: x }')],
  ])('%s', async (_case, text) => {
    expect(await verdicts(text)).toEqual({
      gateway: { ok: true, problems: [] },
      validate: { ok: true, problems: [] },
    });
  });
});

it('the demo of this repository is taken where no gateway runs', () => {
  const command = [join(ROOT, 'dist/cli/main.js'), 'validate'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'ok: 10 tools\n', stderr: '' });
});

describe('the settings are those of the gateway', () => {
  it.each([
    ['an executor that is not there', { executors: { none: {} } }],
    ['settings that an executor does not take', { executors: { python: { none: 1 } } }],
    ['an extension that is not there', { extensions: { none: {} } }],
    ['an order that names nobody', { pipeline: { tool: ['none'] } }],
    ['a loader that is not there', { loaders: [{ type: 'none' }] }],
    [
      'mistakes of all three kinds',
      { loaders: [{ type: 'openapi' }], executors: { none: {} }, extensions: { none: {} } },
    ],
    ['a recording that is not there', { replay: { file: 'none.jsonl' } }],
  ])('%s', async (_case, settings) => {
    const own = tempDir();
    const plain = { auth: { mode: 'none' }, loaders: [{ type: 'yaml-file', paths: [tools] }] };
    const env = configured(own, { ...plain, ...settings });
    const started = new GatewayProcess(own, env);
    try {
      expect(await started.exited).toMatchObject({ code: 1 });
      const { code, stdout, stderr } = await ute(['validate'], env);
      expect(code).toBe(1);
      const said = started.stderr.replace(/^unified-tool-executor(?: could not start: |: .*\n)/, '');
      expect(said.trim()).not.toBe('');
      expect((stdout + stderr).replace(/^ute: /, '')).toBe(said);
    } finally {
      await started.end();
      removeDir(own);
    }
  });

  it('mistakes in gateway.yaml and in variables are problems, as of a tools file', async () => {
    const file = join(dir, 'wrong.yaml');
    writeFileSync(file, 'http:\n  prot: 1\n');
    const { code, stdout } = await ute(['validate', '--json'], { UTE_CONFIG: file, UTE_TOLS: 'x' });
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).problems).toEqual([
      expect.objectContaining({ path: 'UTE_TOLS', message: 'no such setting; did you mean UTE_TOOLS?' }),
      expect.objectContaining({ file, line: 2, column: 3, path: 'http.prot' }),
    ]);
  });

  it('UTE_TOOLS and UTE_CONFIG say what is checked; paths on the command line say it before them', async () => {
    const own = join(dir, 'own');
    mkdirSync(own);
    const one =
      'tools: [{ name: a, description: A, tool_type: composite, implementation_config: { steps: [{ id: x, tool: y }] } }]\n';
    writeFileSync(join(own, 'good.yaml'), one);
    writeFileSync(join(own, 'bad.yaml'), one.replace('composite', 'compsite'));
    writeFileSync(join(own, 'gateway.yaml'), 'loaders: [{ type: yaml-file, paths: [bad.yaml] }]\n');
    const UTE_CONFIG = 'gateway.yaml';
    expect(await ute(['validate'], { UTE_CONFIG }, own)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^bad\.yaml:1:\d+ {2}a {2}tool_type: .*did you mean "composite"\?/),
    });
    const good = { code: 0, stdout: 'ok: 1 tool\n', stderr: '' };
    expect(await ute(['validate'], { UTE_CONFIG, UTE_TOOLS: 'good.yaml' }, own)).toEqual(good);
    expect(await ute(['validate', 'good.yaml'], { UTE_CONFIG }, own)).toEqual(good);
    expect(await ute(['validate', '--config', 'gateway.yaml'], { UTE_TOOLS: 'good.yaml' }, own)).toEqual(
      good,
    );
  });
});
