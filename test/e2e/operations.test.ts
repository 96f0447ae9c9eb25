// What an operator sees of a running gateway: its status, the calls in it, `ute top`, and a report without secrets.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { eventually } from '../helpers/eventually.ts';
import { sendTo, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let dir: string;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-operations-'));
  writeFileSync(
    join(dir, 'wait.mjs'),
    'export const execute = (_arguments, { signal }) => new Promise((done) => signal.addEventListener("abort", () => done(1)));\n',
  );
  const tool = {
    description: 'Waits for ever',
    tool_type: 'javascript',
    input_schema: { type: 'object' },
    metadata: { read_only: true },
  };
  const tools = [
    { ...tool, name: 'wait', timeout_ms: 30_000, implementation_config: { handler: './wait.mjs', trusted: true } },
    { ...tool, name: 'narrow', timeout_ms: 30_000, concurrency: { limit: 1, max_queue: 10, max_wait_ms: 30_000 }, implementation_config: { handler: './wait.mjs', trusted: true } },
  ]; // oxfmt-ignore
  writeFileSync(join(dir, 'tools.yaml'), JSON.stringify({ tools }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
});

afterAll(async () => {
  await gateway.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function ute(...argv: string[]) {
  const out = { stdout: '', stderr: '' };
  const io = {
    stdout: (text: string) => void (out.stdout += text),
    stderr: (text: string) => void (out.stderr += text),
    readStdin: async () => '',
    fetch,
    env: { UTE_API_KEY: gateway.keys.admin.text, UTE_CONFIG: join(gateway.dir, 'gateway.yaml') },
    cwd: dir,
  };
  return { code: await run([...argv, '--url', gateway.url], io), ...out };
}

const admin = (path: string) => sendTo(targetOf(gateway), 'GET', path);

it('shows who runs and who waits for capacity, longest first, and nobody once they have ended', async () => {
  const callers = new AbortController();
  const call = (tool: string) =>
    fetch(`${gateway.url}/v1/tools/${tool}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.keys.agent.text}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: {}, context: { session_id: 's1' } }),
      signal: callers.signal,
    }).catch(() => undefined);
  const calls = ['wait', 'narrow', 'narrow'].map(call);
  const running = await eventually(async () => {
    const { body } = await admin('/v1/admin/running-calls');
    const found = body as { readonly running: number; readonly calls: readonly Record<string, unknown>[] };
    const states = found.calls.map(({ tool, state }) => `${String(tool)} ${String(state)}`).toSorted();
    expect(states).toEqual(['narrow running', 'narrow waiting', 'wait running']);
    return found;
  });
  expect(running.calls[0]).toMatchObject({ tenant: 'acme', door: 'rest', principal: gateway.keys.agent.id });
  const shown = await ute('top', '--once');
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/running 3 .*\nCALL +TOOL/);
  expect(shown.stdout).toMatch(/narrow +acme .*waiting/);
  callers.abort();
  await Promise.all(calls);
  await eventually(async () => {
    expect(await admin('/v1/admin/running-calls')).toMatchObject({ body: { running: 0, calls: [] } });
  });
});

it('the status names each part, and /readyz tells the same without a key', async () => {
  const { body } = await admin('/v1/admin/status');
  expect(body).toMatchObject({
    node: process.version,
    parts: {
      database: { kind: 'embedded', state: 'ok' },
      redis: { kind: 'memory of this process', state: 'ok' },
    },
    registry: { tools: 2, reload_ok: true },
    replicas: { count: 1, agree: true },
  });
  const ready = await fetch(`${gateway.url}/readyz`);
  expect(await ready.json()).toMatchObject({ parts: (body as { parts: object }).parts });
});

it('a report for whoever is asked for help holds how the gateway stands, and none of its secrets', async () => {
  const made = await ute('diagnose', 'report.json');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  // The settings say any free port: the gateway tells which.
  expect(made.stdout).toContain(`metrics were asked for at ${gateway.service.metricsUrl}\n`);
  expect(made.stdout).not.toContain('missing');
  const text = readFileSync(join(dir, 'report.json'), 'utf8');
  expect(statSync(join(dir, 'report.json')).mode & 0o777).toBe(0o600);
  expect(JSON.parse(text)).toMatchObject({
    machine: { node: process.version },
    settings: {
      auth: { keys: expect.arrayContaining([expect.objectContaining({ secret_sha256: '[hidden]' })]) },
    },
    metrics: expect.arrayContaining([expect.stringMatching(/^ute_degraded/)]),
    gateway: {
      status: { replica: expect.stringMatching(/^\[hidden\]-[0-9a-f]{8}$/), registry: { tools: 2 } },
      replicas: { agree: true },
      circuits: { circuits: [] },
    },
  });
  const written = readFileSync(join(gateway.dir, 'gateway.yaml'), 'utf8');
  const hashes = Array.from(written.matchAll(/secret_sha256: (\S+)/g), ([, hash]) => hash);
  expect(hashes).toHaveLength(4);
  for (const secret of [gateway.keys.admin.text, ...hashes]) expect(text).not.toContain(secret);
  expect(await ute('diagnose', 'report.json')).toMatchObject({ code: 2 });
});

it('for who is not of the platform there is neither', async () => {
  for (const path of ['/v1/admin/status', '/v1/admin/running-calls'])
    expect(await sendTo(targetOf(gateway, 'agent'), 'GET', path)).toMatchObject({ status: 403 });
});
