// Real clients at the MCP door: the official ones in TypeScript and Python, in both eras, the one of the SDK's first version, and MCP Inspector's
// command line: they list, call, hear progress, cancel, are held for an approval, and have tasks. Each is a program of its own that writes a line
// of JSON for each thing that it saw. They are installed into a folder that stays; one that cannot be fails by its name.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import { eventually } from '../helpers/eventually.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { installPinned } from '../helpers/pinned-installation.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = process.env['UTE_TEST_SERVERS_DIR'] ?? join(tmpdir(), 'ute-mcp-servers');
const HERE = join(import.meta.dirname, 'clients');
const INSTALLED_WITHIN_MS = 1_300_000;
const DONE_WITHIN_MS = 180_000;
const TOOLS = ['adds', 'erases', 'erases_slowly', 'fails', 'lasts', 'quick', 'tells', 'waits'];

let gateway: RunningGateway;

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  gateway = await startGateway({
    tools: ['test/fixtures/mcp-door/tasks.yaml', 'test/fixtures/mcp-door/streams.yaml'],
  });
  await openDatabase(gateway);
}, 120_000);

afterAll(() => gateway?.stop());

const asAdmin = {
  'content-type': 'application/json',
  get authorization() {
    return `Bearer ${gateway.keys.admin.text}`;
  },
};

/** The one who is sent to an approval. */
async function approve(url: string): Promise<void> {
  const id = basename(url);
  const decision = JSON.stringify({ decision: 'approve' });
  const at = `${gateway.url}/v1/approvals/${id}/decision`;
  const { status } = await fetch(at, { method: 'POST', headers: { ...asAdmin }, body: decision });
  expect(status).toBe(200);
}

/** What a program wrote, a line of JSON each. Approvals that it is asked for are given meanwhile. Rejects where it fails. */
async function saw(
  program: string,
  args: readonly string[],
  codes: readonly (number | null)[] = [0],
): Promise<JsonObject> {
  const child = spawn(program, args, { timeout: DONE_WITHIN_MS });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const closed = once(child, 'close');
  const all: Record<string, JsonValue> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const { asked, ...said } = JSON.parse(line) as JsonObject;
    if (typeof asked === 'string') await approve(asked);
    Object.assign(all, said);
  }
  const [code] = (await closed) as [number | null];
  if (!codes.includes(code))
    throw new Error(`${basename(program)} ${basename(args[0] ?? '')} ended with ${code}: ${errors}`);
  return all;
}

const installedOnce = (suite: string) => {
  let dir: string | undefined;
  return () =>
    (dir ??= installPinned({ name: `mcp-clients-${suite}`, from: join(HERE, suite), root: FOLDER }));
};
const typescript = installedOnce('typescript');
const python = installedOnce('python');
const door = () => [`${gateway.url}/mcp`, gateway.keys.agent.text];

/** Beside the packages that it imports. */
function script(name: string): string {
  const file = join(typescript(), name);
  copyFileSync(join(HERE, 'typescript', name), file);
  return file;
}

/** A call that its client gave up is no longer among those that run. */
async function nothingRuns(): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`${gateway.url}/v1/admin/running-calls`, { headers: { ...asAdmin } });
    return !(await response.text()).includes('"lasts"');
  });
}

const COMMON = {
  tools: TOOLS,
  structured: { sum: 3 },
  invalid: [true, 'VALIDATION'],
  progress: ['a quarter', null, null],
  cancelled: true,
  approved: { erased: 'x' },
};

describe('the official client in TypeScript', { timeout: INSTALLED_WITHIN_MS }, () => {
  it('does all of it in 2026-07-28, tasks by its extension', async () => {
    expect(await saw(process.execPath, [script('client.mjs'), ...door(), 'auto'])).toEqual({
      ...COMMON,
      version: '2026-07-28',
      task: ['task', { sum: 42 }],
      'approved task': ['task', { erased: 'y' }],
      'cancelled task': 'cancelled',
    });
    await nothingRuns();
  });

  it('does all of it in 2025-11-25', async () => {
    expect(await saw(process.execPath, [script('client.mjs'), ...door(), 'legacy'])).toEqual({
      ...COMMON,
      version: '2025-11-25',
      task: ['task', { sum: 42 }],
      'cancelled task': 'cancelled',
    });
    await nothingRuns();
  });

  it('of the first version of the SDK has tasks of 2025-11-25', async () => {
    expect(await saw(process.execPath, [script('v1.mjs'), ...door()])).toEqual({
      task: ['taskCreated', { sum: 42 }],
      listed: true,
      'approved task': ['taskCreated', { erased: 'z' }],
      'cancelled task': 'cancelled',
    });
    await nothingRuns();
  });
});

describe('the official client in Python', { timeout: INSTALLED_WITHIN_MS }, () => {
  const run = (mode: string) =>
    saw(join(python(), 'python/bin/python'), [join(HERE, 'python/client.py'), ...door(), mode]);

  it('does all of it in 2026-07-28, tasks by its extension', async () => {
    expect(await run('auto')).toEqual({
      ...COMMON,
      version: '2026-07-28',
      'became a task': 'erases_slowly',
      task: { sum: 42 },
      'approved task': { erased: 'y' },
    });
    await nothingRuns();
  });

  it('does all of it in 2025-11-25, whose tasks it does not have', async () => {
    expect(await run('legacy')).toEqual({ ...COMMON, version: '2025-11-25' });
    await nothingRuns();
  });
});

describe("MCP Inspector's command line", { timeout: INSTALLED_WITHIN_MS }, () => {
  /** It ends with 5 where the tool says that it could not. */
  async function inspect(era: string, ...args: readonly string[]): Promise<JsonObject> {
    const [url = '', key = ''] = door();
    const inspector = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
    const header = `Authorization: Bearer ${key}`;
    const to = ['--cli', url, '--transport', 'http', '--protocol-era', era, '--header', header];
    const program = [join(typescript(), inspector), ...to, '--format', 'json', '-q'];
    const { result } = await saw(process.execPath, [...program, ...args], [0, 5]);
    return result as JsonObject;
  }
  const call = (era: string, tool: string, ...args: readonly string[]) =>
    inspect(era, '--method', 'tools/call', '--tool-name', tool, ...args);

  it.each(['modern', 'legacy'])('lists the tools, and calls one: %s', async (era) => {
    const { tools } = await inspect(era, '--method', 'tools/list');
    expect((tools as JsonObject[]).map(({ name }) => name)).toEqual(TOOLS);
    const answer = await call(era, 'adds', '--tool-arg', 'a=1', 'b=2');
    expect(answer).toMatchObject({ structuredContent: { sum: 3 } });
  });

  // Of 2026-07-28 it says that it opens URLs, and does not: it waits for itself.
  it('is told where an approval is, and calls again with the token', async () => {
    const args = ['--tool-args-json', JSON.stringify({ what: 'it' })];
    const held = await call('legacy', 'erases', ...args);
    const { details } = (held['_meta'] as Record<string, JsonObject>)['io.ute/error'] ?? {};
    const { approval_id: id = '', confirmation_token: token } = details as Record<string, string>;
    await approve(id);
    const context = `io.ute/context=${JSON.stringify({ confirmation_token: token })}`;
    const again = await call('legacy', 'erases', ...args, '--tool-metadata', context);
    expect(again).toMatchObject({ structuredContent: { erased: 'it' } });
  });
});
