// A rolling update from the version before, built from the history, to this one, and back again, while callers do everything that leaves
// something for the other version: what is accepted, asked for approval, answered once and limited by one is carried on by either.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../src/cli/run.ts';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { callWhen } from '../helpers/async-client.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { TurnProxy } from '../helpers/turn-proxy.ts';
import { olderVersion, type OlderVersion } from './older-version.ts';
import { UpdateCaller } from './update-caller.ts';

const NEW_MAIN = resolve(import.meta.dirname, '../../dist/bundle/main.js');
const KEY = createApiKey();
const REPLICAS = 3;
const CALLERS = 3;
/** What a load balancer takes at most to notice that one goes. */
const NOTICE_MS = 100;

let older: OlderVersion;
const all: GatewayProcess[] = [];
let stores: Stores;
let dir: string;
/** Each run of a tool that changes something is a line in it. */
let notes: string;

beforeAll(async () => {
  older = olderVersion();
  dir = tempDir();
  chmodSync(dir, 0o711);
  notes = join(dir, 'notes');
  writeFileSync(notes, '');
  writeTools();
  stores = await sharedStores();
}, 600_000);

afterAll(async () => {
  await Promise.all(all.map((gateway) => gateway.end()));
  await stores?.stop();
  removeDir(dir);
});

/** What both versions know, of each kind that leaves something behind. */
function writeTools(): void {
  writeFileSync(
    join(dir, 'note.js'),
    `import { appendFileSync } from 'node:fs';
export function execute({ word }) {
  appendFileSync(${JSON.stringify(notes)}, word + '\\n');
  return word;
}
`,
  );
  mkdirSync(join(dir, 'python'));
  writeFileSync(join(dir, 'python/sums.py'), 'def add(a: int, b: int) -> int:\n    return a + b\n');
  const word = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  const note = { tool_type: 'javascript', implementation_config: { handler: './note.js', trusted: true } };
  const whole = { type: 'integer' };
  const tools = [
    { name: 'note', description: 'Notes.', input_schema: word, ...note },
    {
      name: 'note_limited',
      description: 'Notes, within limits over all replicas.',
      input_schema: word,
      ...note,
      rate_limits: [{ rate: 100_000, period: '1m', per: 'tenant' }],
      concurrency: { limit: 20, per: 'tool', max_queue: 50 },
    },
    {
      name: 'note_guarded',
      description: 'Notes, after an approval.',
      input_schema: word,
      ...note,
      metadata: { requires_approval: true },
    },
    {
      name: 'add',
      description: 'Adds.',
      tool_type: 'python',
      input_schema: { type: 'object', properties: { a: whole, b: whole }, required: ['a', 'b'] },
      implementation_config: { module: 'sums', function_name: 'add' },
      metadata: { read_only: true, idempotent: true },
      extensions: { cache: { ttl_ms: 60_000, scope: 'tenant' } },
    },
  ];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
}

interface Started {
  readonly gateway: GatewayProcess;
  readonly rest: string;
}

async function started(main: string): Promise<Started> {
  const own = mkdtempSync(join(dir, 'replica-'));
  const secretKey = Buffer.alloc(32, 7).toString('base64');
  const env = configured(own, {
    ...stores.settings,
    auth: {
      keys: [
        {
          id: KEY.id,
          secret_sha256: KEY.secretHash.toString('hex'),
          tenant: 'acme',
          roles: ['platform_admin'],
        },
      ],
    },
    secrets: { keys: `one:${secretKey}` },
    approvals: { allow_self_approval: true },
    loaders: [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }],
    executors: { python: { module_paths: [join(dir, 'python')], sandbox: 'off' } },
    log: { level: 'info' },
  });
  const gateway = new GatewayProcess(own, env, [], main);
  all.push(gateway);
  return { gateway, rest: (await gateway.ready()).rest };
}

it('no call fails, none is lost and none runs twice while the version before is replaced, and while it comes back', async () => {
  const olds = await Promise.all(Array.from({ length: REPLICAS }, () => started(older.main)));
  const backends = [...olds];
  const proxy = await TurnProxy.over(backends);
  const target = { url: proxy.url, key: KEY.text };
  const over = new AbortController();
  const failures: unknown[] = [];
  const callers = Array.from({ length: CALLERS }, () => new UpdateCaller(target));
  const calling = callers.map(async (caller, n) => {
    for (let turn = 0; !over.signal.aborted; turn += 1) await caller.turn(`w${n}-${turn}`);
  });
  for (const each of calling) each.catch((error: unknown) => void failures.push(error));
  const replaceAll = async (main: string) => {
    for (let at = 0; at < REPLICAS; at += 1) {
      const [next, old] = [await started(main), backends[at]];
      backends[at] = next;
      await pause(NOTICE_MS);
      old?.gateway.signal('SIGTERM');
      expect(await old?.gateway.exited).toEqual({ code: 0, signal: null });
    }
  };
  try {
    await replaceAll(NEW_MAIN);
    await replaceAll(older.main);
  } finally {
    over.abort();
    await Promise.allSettled(calling);
  }
  expect(failures).toEqual([]);
  expect(backends.map(({ gateway }) => gateway.stdout).join()).toContain('the schema of a newer version');
  for (const id of callers.flatMap(({ accepted }) => accepted))
    expect(await callWhen(target, id)).toMatchObject({ status: 'succeeded' });
  const words = callers.flatMap((caller) => caller.words).toSorted();
  expect(words.length).toBeGreaterThan(5 * CALLERS);
  expect(readFileSync(notes, 'utf8').trimEnd().split('\n').toSorted()).toEqual(words);
  await proxy.close();
  await chainIsWhole(backends[0]?.rest ?? '');
}, 400_000);

/** Records of both, in one chain. */
async function chainIsWhole(url: string): Promise<void> {
  let said = '';
  const out = (text: string) => void (said += text);
  const env = { UTE_URL: url, UTE_API_KEY: KEY.text };
  const io = { stdout: out, stderr: out, readStdin: async () => '', fetch, env, cwd: dir };
  expect([await run(['audit', 'export', 'chain.jsonl'], io), said]).toEqual([0, expect.any(String)]);
  said = '';
  expect([await run(['audit', 'verify', 'chain.jsonl'], io), said]).toEqual([
    0,
    expect.stringContaining('whole'),
  ]);
}
