// kill -9 in the middle of writes, of the gateway, of its database and of both: what was acknowledged is there afterwards.
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, assert, beforeEach, expect, it } from 'vitest';
import { readPidFile } from '../../src/infra/embedded-postgres/stale-server.ts';
import { CALL_HISTORY } from '../helpers/call-history-sql.ts';
import { acceptCall, callWhen } from '../helpers/async-client.ts';
import { configured, GatewayProcess, isAlive } from '../helpers/gateway-process.ts';
import { callTool, type RestTarget } from '../helpers/rest-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const POLL = { timeout: 60_000, interval: 50 };
const ROUNDS = ['the gateway', 'the database', 'both', 'both'] as const;
const CALLERS = 8;
/** Of one round, before the end comes. */
const ACKNOWLEDGED = 150;

const TOOLS = `tools:
  - name: act
    description: Changes something
    tool_type: javascript
    input_schema: { type: object, properties: {} }
    implementation_config: { handler: ./act.mjs, trusted: true }
    metadata: { idempotent: true }
`;

let dir: string;
const started: GatewayProcess[] = [];
/** Of the key that the first start prints. */
let key = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-power-'));
  writeFileSync(join(dir, 'act.mjs'), "export const execute = async () => 'done';\n");
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((gateway) => gateway.end()));
  await eventually(() => assert(!isAlive(serverPid()), 'the server is still there'));
  removeDir(dir);
});

const home = () => realpathSync(join(dir, 'data/postgres'));
const serverPid = () => readPidFile(join(home(), 'cluster'))?.pid ?? 0;

async function start(): Promise<{ gateway: GatewayProcess; target: RestTarget }> {
  const loaders = [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }];
  const gateway = new GatewayProcess(dir, configured(dir, { loaders }));
  started.push(gateway);
  const { rest } = await gateway.ready(60_000);
  key ||= /ute_live_\w+_[\w-]+_[0-9a-f]{8}/.exec(gateway.stderr)?.[0] ?? '';
  return { gateway, target: { url: rest, key } };
}

it(
  'every acknowledged call is in the records, and every accepted one ends',
  { timeout: 300_000 },
  async () => {
    key = '';
    const [done, accepted]: [Set<string>, Set<string>] = [new Set(), new Set()];
    for (const what of ROUNDS) {
      const { gateway, target } = await start();
      const over = new AbortController();
      let acknowledged = 0;
      const work = async () => {
        while (!over.signal.aborted) {
          const sync = await callTool(target, 'act').catch(() => undefined);
          if (sync?.body.ok === true) done.add((sync.body.meta as unknown as { call_id: string }).call_id);
          const later = await acceptCall(target, 'act').catch(() => undefined);
          if (later?.status === 202) accepted.add(later.body.meta.call_id);
          acknowledged += 1;
        }
      };
      const working = Promise.all(Array.from({ length: CALLERS }, work));
      await expect.poll(() => acknowledged, POLL).toBeGreaterThan(ACKNOWLEDGED);
      const server = serverPid();
      if (what !== 'the gateway') process.kill(server, 'SIGKILL');
      // It is started again, and the gateway goes on.
      const before = acknowledged;
      const goesOn = () => serverPid() !== server && isAlive(serverPid()) && acknowledged > before + CALLERS;
      const isEnough = what === 'the database' ? goesOn : () => true;
      await expect.poll(isEnough, POLL).toBe(true);
      gateway.signal('SIGKILL');
      await gateway.exited;
      over.abort();
      await working;
    }
    const { target } = await start();
    expect(done.size).toBeGreaterThan(ROUNDS.length * 10);
    expect(accepted.size).toBeGreaterThan(ROUNDS.length * 10);
    await expect.poll(async () => (await missing([...done, ...accepted])).length, POLL).toBe(0);
    for (const id of accepted)
      expect(await callWhen(target, id, ({ status }) => status === 'succeeded', 60_000)).toMatchObject({
        id,
      });
  },
);

async function missing(ids: readonly string[]): Promise<readonly string[]> {
  const client = new Client({
    host: join(home(), 'socket'),
    user: 'ute',
    password: readFileSync(join(home(), 'password'), 'utf8').trim(),
    database: 'postgres',
  });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM ${CALL_HISTORY} AS call WHERE id = ANY($1)`,
    [ids],
  );
  await client.end();
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
}
