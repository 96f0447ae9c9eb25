// The executors, held to the suite that every one of them passes.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { FIXTURES as MCP, nodeServer } from '../helpers/mcp-kit.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { grpcSuite } from './grpc-suite.ts';
import { describeExecutor, MAX_RESULT_BYTES, SLOW_TIMEOUT_MS } from './executor.suite.ts';

const TIMEOUTS: Readonly<Record<string, number>> = { slow: SLOW_TIMEOUT_MS, hang: 30_000 };
const TOOLS = ['echo', 'slow', 'hang', 'large', 'failing', 'crash'];

/** Writes the suite's tools into `dir`, each implemented as `implementation` says. */
function writeSuite(
  dir: string,
  toolType: string,
  implementation: (tool: string) => unknown,
  connections?: unknown,
): string {
  const tools = TOOLS.map((name) => ({
    name,
    description: `The suite's ${name}`,
    tool_type: toolType,
    input_schema:
      name === 'echo'
        ? { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
        : { type: 'object' },
    implementation_config: implementation(name),
    // Fifty calls that start fifty sandboxes take their time on a busy machine.
    timeout_ms: TIMEOUTS[name] ?? 60_000,
  }));
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, stringify({ ...(connections === undefined ? {} : { connections }), tools }));
  return path;
}

const JAVASCRIPT = `
export const echo = ({ n }) => ({ n });
export const slow = () => new Promise(() => {});
export const hang = (_args, { signal }) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
export const large = () => 'x'.repeat(${MAX_RESULT_BYTES + 1});
export function failing() { throw new Error('no such luck'); }
export function crash() { throw null; }
`;

const IN_WORKER = `
export { echo, hang, large, failing } from './suite.js';
export function slow() { while (true); }
export function crash() { process.exit(3); }
`;

describeExecutor('javascript', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'suite.js'), JAVASCRIPT);
  writeFileSync(join(dir, 'in-worker.js'), IN_WORKER);
  const tools = writeSuite(dir, 'javascript', (tool) => ({ handler: './in-worker.js', export: tool }));
  return { tools, close: () => removeDir(dir) };
});

describeExecutor('javascript, trusted', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'suite.js'), JAVASCRIPT);
  const tools = writeSuite(dir, 'javascript', (tool) => ({
    handler: './suite.js',
    export: tool,
    trusted: true,
  }));
  return { tools, close: () => removeDir(dir) };
});

/** Each of the suite's tools as one step, which a javascript tool `inner_…` runs. */
describeExecutor('composite', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'suite.js'), JAVASCRIPT);
  const inner = TOOLS.map((tool) => ({
    name: `inner_${tool}`,
    description: `Runs ${tool}`,
    tool_type: 'javascript',
    input_schema: { additionalProperties: true },
    implementation_config: { handler: './suite.js', export: tool, trusted: true },
  }));
  const path = writeSuite(dir, 'composite', (tool) => ({
    steps: [
      { id: 'it', tool: `inner_${tool}`, ...(tool === 'echo' && { arguments: { n: { $: 'input.n' } } }) },
    ],
    result: 'steps.it',
  }));
  const { tools } = parse(readFileSync(path, 'utf8')) as { tools: unknown[] };
  writeFileSync(path, stringify({ tools: [...tools, ...inner] }));
  return { tools: path, close: () => removeDir(dir) };
});

const PYTHON = `
import os, signal, time

def echo(n):
    return {"n": n}

def slow():
    while True:
        pass

def hang():
    time.sleep(60)

def large():
    return "x" * ${MAX_RESULT_BYTES + 1}

def failing():
    raise ValueError("no such luck")

def crash():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
`;

describeExecutor('python', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'suite_tools.py'), PYTHON);
  const tools = writeSuite(dir, 'python', (tool) => ({ module: 'suite_tools', function_name: tool }));
  return { tools, settings: { executors: { python: { module_paths: [dir] } } }, close: () => removeDir(dir) };
});

const SECRET = 'upstream-secret-4711';

/** Answers /echo only to who shows the secret: a call that works proves that the header was sent. */
const upstream: RequestListener = (incoming, response) => {
  const url = new URL(incoming.url ?? '/', 'http://upstream');
  const json = (status: number, body: unknown) => {
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-seen': SECRET })
      .end(JSON.stringify(body));
  };
  if (incoming.headers.authorization !== `Bearer ${SECRET}`) return json(401, {});
  switch (url.pathname) {
    case '/echo':
      return json(200, { n: Number(url.searchParams.get('n')) });
    case '/large':
      return json(200, 'x'.repeat(MAX_RESULT_BYTES + 1));
    case '/failing':
      return json(500, { stack: SECRET });
    case '/crash':
      return void incoming.socket.destroy();
    default:
      return undefined; // slow, hang: no answer at all
  }
};

describeExecutor('grpc', async () => {
  const dir = tempDir();
  const { connections, implementation, stop } = await grpcSuite(dir, SECRET);
  const tools = writeSuite(dir, 'grpc', implementation, connections);
  async function close() {
    stop();
    removeDir(dir);
  }
  return { tools, secret: SECRET, close };
});

describeExecutor('http', async () => {
  const dir = tempDir();
  const server = createServer(upstream);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  writeFileSync(join(dir, 'secret'), `Bearer ${SECRET}`);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connections = {
    upstream: {
      type: 'http',
      base_url: base,
      headers: { Authorization: `\${file:${join(dir, 'secret')}}` },
      allow_private: ['127.0.0.0/8'],
      allow_ports: ['1-65535'],
    },
  };
  const query = (tool: string) => (tool === 'echo' ? { query: { n: '{n}' } } : {});
  const tools = writeSuite(
    dir,
    'http',
    (tool) => ({ connection: 'upstream', path: `/${tool}`, ...query(tool) }),
    connections,
  );
  async function close() {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    removeDir(dir);
  }
  return { tools, secret: SECRET, close };
});

const SQL_CRASH = `CREATE ROLE agent LOGIN; CREATE FUNCTION crash() RETURNS int LANGUAGE plpgsql
  AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN 1; END';`;

const STATEMENTS: Readonly<Record<string, string>> = {
  echo: 'SELECT {n}::int AS n',
  slow: 'SELECT pg_sleep(60)::text AS s',
  hang: 'SELECT pg_sleep(60)::text AS s',
  large: `SELECT repeat('x', ${MAX_RESULT_BYTES + 1}) AS x`,
  failing: 'SELECT 1 / (random() * 0)::int AS x',
  crash: 'SELECT crash() AS x',
};

describeExecutor('sql', async () => {
  const dir = tempDir();
  const postgres = await startPostgres(SQL_CRASH);
  const url = postgres.url('agent').replace('agent@', `agent:${SECRET}@`);
  const tools = writeSuite(
    dir,
    'sql',
    (tool) => ({
      connection: 'main',
      statement: STATEMENTS[tool],
      result: 'row',
      ...(STATEMENTS[tool]?.includes('pg_sleep') === true && {
        trusted_functions: ['pg_sleep(double precision)'],
      }),
    }),
    { main: { type: 'postgres', url, tenant: 'none' } },
  );
  async function close() {
    await postgres.stop();
    removeDir(dir);
  }
  return { tools, secret: SECRET, close };
});

const SHELL: Readonly<Record<string, unknown>> = {
  echo: { command: ['printf', '{{"n":%s}}', '{n}'], output: 'json' },
  slow: { command: 'sleep 60' },
  hang: { command: 'sleep 60' },
  large: { command: `head -c ${MAX_RESULT_BYTES + 1} /dev/zero` },
  failing: { command: 'ls no-such-luck' },
  crash: { command: 'yes' },
};

describeExecutor('shell', async () => {
  const dir = tempDir();
  const tools = writeSuite(dir, 'shell', (tool) => SHELL[tool]);
  return { tools, close: () => removeDir(dir) };
});

describeExecutor('mcp', async () => {
  const dir = tempDir();
  const server = nodeServer(join(MCP, 'suite-server.js'), [], { env: { API_KEY: SECRET } });
  const tools = writeSuite(dir, 'mcp', (tool) => ({ connection: 'suite', tool, result: 'structured' }), {
    suite: { type: 'mcp', ...server },
  });
  return { tools, secret: SECRET, close: () => removeDir(dir) };
});
