// Three replicas as an operator runs them, over real Redis and PostgreSQL: what a session has, and the end of a key, hold over them, one of
// them killed in the middle of its calls. And what a call of a session with budgets costs Redis, counted at the server.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { eventually } from '../helpers/eventually.ts';
import { GatewayProcess } from '../helpers/gateway-process.ts';
import { metricValue } from '../helpers/rest-client.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const TOOLS = resolve(import.meta.dirname, '../../examples/sessions/tools.yaml');
const PATH = '/v1/tools/get_faqs/execute';
const LIMIT = 12;

interface Answer {
  readonly ok?: boolean;
  readonly id?: string;
  readonly key?: string;
  readonly error?: { readonly type: string; readonly reason: string };
}

let dir: string;
let stores: Stores;
const replicas: GatewayProcess[] = [];
const urls: string[] = [];
const metrics: string[] = [];
const { text: key, id, secretHash } = createApiKey();

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-sessions-'));
  stores = await sharedStores();
  const settings = {
    ...stores.settings,
    http: { port: 0 },
    grpc: { port: 0 },
    metrics: { port: 0 },
    auth: { keys: [{ id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: ['admin'] }] },
    loaders: [{ type: 'yaml-file', paths: [TOOLS] }],
    limits: { shed_at_lag_ms: 60_000 },
    modes: { voice: { retrievals_per_turn: 100, retrieval_soft_ms: null } },
    budgets: {
      per_session: { calls: LIMIT },
      per_user: { calls: 100_000, cost: 1_000 },
      per_tenant: { calls: 100_000 },
    },
  };
  for (const index of [0, 1, 2]) {
    const folder = join(dir, String(index));
    mkdirSync(folder);
    writeFileSync(join(folder, 'gateway.yaml'), stringify({ ...settings, data_dir: join(folder, 'data') }));
  }
  await Promise.all([0, 1, 2].map(started));
});

afterAll(async () => {
  await Promise.all(replicas.map((each) => each.end()));
  await stores?.stop();
  removeDir(dir);
});

/** In its own folder: a replica that was killed comes back as the same. */
async function started(index: number): Promise<void> {
  const folder = join(dir, String(index));
  const replica = new GatewayProcess(folder, { UTE_CONFIG: join(folder, 'gateway.yaml') });
  replicas[index] = replica;
  ({ rest: urls[index], metrics: metrics[index] } = await replica.ready(120_000));
}

async function ask(
  replica: number,
  method: string,
  path: string,
  body?: object,
  by: string = key,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
  const said = body === undefined ? {} : { body: JSON.stringify(body) };
  const text = await (await fetch(`${urls[replica]}${path}`, { method, headers, ...said })).text();
  return JSON.parse(text === '' ? '{}' : text) as Answer;
}

const declared = async () =>
  (await ask(0, 'POST', '/v1/sessions', { user_id: 'ann', agent_id: 'desk', mode: 'voice' })).id ?? '';

function call(replica: number, session: string, slowMs = 0): Promise<Answer> {
  const body = { arguments: { topic: 'x', slow_ms: slowMs }, context: { session_id: session } };
  return ask(replica, 'POST', PATH, body);
}

describe('three replicas', () => {
  it('a call of a session with budgets of turn, session and day makes one trip to Redis, and nothing else', async () => {
    const sessions = await Promise.all([declared(), declared(), declared()]);
    for (const session of sessions) await call(0, session);
    const monitor = await stores.redis?.client.monitor();
    const seen: string[][] = [];
    // What the script itself does is part of the one trip.
    monitor?.on(
      'monitor',
      (_time: string, args: string[], source: string) => void (source === 'lua' || seen.push(args)),
    );
    const calls = 3 * 8;
    for (const session of sessions)
      for (let each = 0; each < 8; each += 1) expect(await call(0, session)).toMatchObject({ ok: true });
    monitor?.disconnect();
    const about = seen.filter((args) => args.some((arg) => /:(call|budget|rate|lease):/.test(arg)));
    expect(about.map(([command]) => command?.toLowerCase())).toEqual(
      Array.from({ length: calls }, () => 'evalsha'),
    );
    // What else replicas say to Redis is by the clock: that they live, and which tools they have.
    const others = seen.filter((args) => !about.includes(args) && args[0]?.toLowerCase() === 'evalsha');
    expect(others.every((args) => args.some((arg) => arg.endsWith(':replicas')))).toBe(true);
  });

  it('the budget of a session holds, and its end, while one of them is killed in the middle of a call', async () => {
    const session = await declared();
    const before = await Promise.all([0, 1, 2, 0, 1, 2].map((replica) => call(replica, session)));
    expect(before.filter(({ ok }) => ok)).toHaveLength(6);
    const lost = call(2, session, 5_000).catch(() => 'gone' as const);
    const used = async () => {
      const view = (await ask(0, 'GET', `/v1/sessions/${session}`)) as {
        budgets?: { name: string; used: number }[];
      };
      return view.budgets?.find(({ name }) => name === 'session_calls')?.used;
    };
    await eventually(async () => expect(await used()).toBe(7));
    replicas[2]?.signal('SIGKILL');
    expect(await lost).toBe('gone');
    const after = await Promise.all(Array.from({ length: 12 }, (_, index) => call(index % 2, session)));
    // What the killed one had begun stays counted.
    expect(after.filter(({ ok }) => ok)).toHaveLength(LIMIT - 7);
    expect(after.find(({ ok }) => !ok)).toMatchObject({
      error: { type: 'BUDGET_EXCEEDED', reason: 'BUDGET_SPENT' },
    });
    await ask(0, 'DELETE', `/v1/sessions/${session}`);
    const ended = { error: { type: 'SESSION_INACTIVE', reason: 'SESSION_ENDED' } };
    await eventually(async () => expect(await call(1, session)).toMatchObject(ended));
    await started(2);
    expect(await call(2, session)).toMatchObject(ended);
  });

  it('a key that is revoked while one of them is killed is refused by the others, and by that one from its start on', async () => {
    const wish = { name: 'leaver', roles: ['agent'], tenant: 'acme' };
    const made = await ask(0, 'POST', '/v1/keys', wish);
    const { key: leaver = '' } = made;
    const said = (replica: number, slowMs = 0) =>
      ask(replica, 'POST', PATH, { arguments: { topic: 'x', slow_ms: slowMs } }, leaver);
    for (const replica of [0, 1, 2])
      await eventually(async () => expect(await said(replica)).toMatchObject({ ok: true }));
    const lost = said(2, 5_000).catch(() => 'gone' as const);
    const inside = async () => metricValue(metrics[2] ?? '', 'ute_inflight_calls{executor="javascript"}');
    await eventually(async () => expect(await inside()).toBe(1));
    replicas[2]?.signal('SIGKILL');
    expect(await lost).toBe('gone');
    const refused = { error: { type: 'AUTH', reason: 'CREDENTIAL_INVALID' } };
    await ask(0, 'DELETE', `/v1/keys/${made.id}`);
    expect(await said(0)).toMatchObject(refused);
    await eventually(async () => expect(await said(1)).toMatchObject(refused));
    await started(2);
    expect(await said(2)).toMatchObject(refused);
  });
});
