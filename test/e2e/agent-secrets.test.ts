// A secret of an agent, said by its tools in every way that they have: it comes out nowhere. In the program as it is run, so that its
// log, its files and its database are looked through too.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen, followEvents } from '../helpers/async-client.ts';
import { configured, GatewayProcess, type Doors } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { sendTo, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

/** It needs escaping wherever there is any. */
const CANARY = 'cAnary+7f/"q%41&=Zz9<ok>';
const TOOLS = ['leaky_js', 'leaky_py', 'leaky_http', 'leaky_in_gateway'] as const;
const HOWS = ['', 'throw', 'typed'] as const;
const AGENT = 'desk';
const KEY = createApiKey();
const ROOT = resolve(import.meta.dirname, '../..');

let dir: string;
let upstream: Server;
let postgres: Postgres;
let gateway: GatewayProcess;
let doors: Doors;
let target: RestTarget;
/** Whatever came over the wire. */
const heard: string[] = [];

/** Every way in which a text may hold it, made here anew. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const aligned = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const inner = encoded.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(text),
    encodeURIComponent(text).toLowerCase(),
    bytes.toString('hex'),
    ...aligned,
    // Half of it is too much, too.
    text.slice(0, 12),
    text.slice(-12),
  ];
}

const FORMS = formsOf(CANARY);

function expectNone(where: string, text: string): void {
  const found = FORMS.filter((form) => text.includes(form));
  expect([where, found]).toEqual([where, []]);
}

async function ask<Body = Record<string, unknown>>(...[method, path, body]: [string, string, unknown?]) {
  const answer = await sendTo<Body>(target, method, path, body);
  heard.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
  return answer;
}

const call = (tool: string, args: object, context: object = {}) =>
  ask<Envelope & { error?: { details: Record<string, string> } }>('POST', `/v1/tools/${tool}/execute`, {
    arguments: args,
    context: { agent_id: AGENT, ...context },
  });

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

beforeAll(async () => {
  dir = tempDir();
  upstream = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()));
    asked.on('end', () => {
      const fails = asked.url?.includes('how=t') === true;
      answer.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
      const { 'x-token': token } = asked.headers;
      answer.end(
        JSON.stringify({
          token,
          url: encodeURIComponent(String(token)),
          body,
          code: Buffer.from(body).toString('base64'),
        }),
      );
    });
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  postgres = await startPostgres();
  const key = {
    id: KEY.id,
    secret_sha256: KEY.secretHash.toString('hex'),
    tenant: 'acme',
    roles: ['platform_admin'],
    user: 'ann',
  };
  const env = configured(dir, {
    auth: { keys: [key] },
    database: { url: postgres.url() },
    loaders: [{ type: 'yaml-file', paths: [join(ROOT, 'test/fixtures/agents/tools.yaml')] }],
    executors: { python: { module_paths: [join(ROOT, 'test/fixtures/python')] } },
    approvals: { allow_self_approval: true },
    log: { level: 'debug' },
  });
  const port = String((upstream.address() as AddressInfo).port);
  gateway = new GatewayProcess(dir, { ...env, TEST_AGENTS_PORT: port });
  doors = await gateway.ready();
  target = { url: doors.rest, key: KEY.text };
  await ask('POST', '/v1/agents', { name: AGENT });
  for (const tool of [...TOOLS, 'guarded']) {
    const path = `/v1/agents/${AGENT}/tools/${tool}`;
    const put = await ask('PUT', path, { sensitive_config: { token: CANARY } });
    if (put.status !== 200) throw new Error(JSON.stringify(put.body));
  }
}, 120_000);

afterAll(async () => {
  await gateway?.end();
  await postgres?.stop();
  upstream?.close();
  removeDir(dir);
});

describe('a secret of an agent', () => {
  it.each(TOOLS)('reaches %s, and comes back in no result, error or dry run', async (tool) => {
    const results = [];
    for (const how of HOWS) results.push((await call(tool, { how })).body);
    expect(results.map(({ ok }) => ok)).toContain(true);
    const length = JSON.stringify(results);
    // It was there: the tool has counted its characters, or the upstream has sent back its mark.
    expect(length).toMatch(tool === 'leaky_http' ? /\[secret\]/ : new RegExp(`"length":${CANARY.length}`));
    await call(tool, { how: '' }, { dry_run: true });
    for (const text of heard) expectNone(tool, text);
  });

  it('is in no event of a call that is followed, however it is cut into pieces', async () => {
    const ids = [];
    for (const tool of TOOLS) {
      const id = await acceptedId(target, tool, { how: '' }, { context: { agent_id: AGENT } });
      ids.push(id);
      heard.push(JSON.stringify(await callWhen(target, id)));
      const events = await followEvents(target, id);
      heard.push(JSON.stringify(events));
      const pieces = events
        .filter(({ event }) => event === 'partial')
        .map(({ data }) => (data as { data: string }).data);
      expectNone(`pieces of ${tool}`, pieces.join(''));
      const texts = events.map(({ data }) => JSON.stringify(data));
      expectNone(`events of ${tool}`, texts.join(''));
    }
    expect(ids).toHaveLength(TOOLS.length);
    for (const text of heard) expectNone('events', text);
  });

  it('is in no approval, recording, record, call, configuration or refusal of one', async () => {
    await ask('POST', '/v1/admin/recordings', { name: 'canary' });
    const asked = await call('guarded', {});
    const { approval_id: id, confirmation_token: token } = asked.body.error?.details ?? {};
    await ask('GET', `/v1/approvals/${id}`);
    await ask('POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    expect((await call('guarded', {}, { confirmation_token: token })).body.ok).toBe(true);
    await call('leaky_js', {});
    await ask('POST', '/v1/admin/recordings/canary/stop');
    const recording = await fetch(`${doors.rest}/v1/admin/recordings/canary`, {
      headers: { authorization: `Bearer ${KEY.text}` },
    });
    heard.push(await recording.text());
    const path = `/v1/agents/${AGENT}/tools/leaky_js`;
    for (const body of [
      { sensitive_config: { token: { nested: CANARY } } },
      { sensitive_config: { token: CANARY, other: CANARY } },
      { config: { token: CANARY } },
      { config: { greeting: 7 }, sensitive_config: { token: CANARY } },
      { is_enabled: CANARY },
    ])
      expect((await ask('PUT', path, body)).status).toBe(400);
    for (const look of ['/v1/agents', `/v1/agents/${AGENT}/tools`, path, `${path}/config-form`])
      await ask('GET', look);
    for (const look of ['/v1/audit?page_size=500', '/v1/calls?page_size=500', '/v1/tools', '/readyz'])
      await ask('GET', look);
    for (const text of heard) expectNone('the wire', text);
  });

  it('is in no metric, log line, file or row', async () => {
    const metrics = await (await fetch(doors.metrics)).text();
    expectNone('metrics', metrics);
    const tables = await postgres.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(tables.map(({ name }) => name)).toContain('agent_tools');
    for (const { name } of tables) {
      const rows = await postgres.sql(
        `SELECT t::text AS text, to_json(t)::text AS json FROM "${String(name)}" t`,
      );
      expectNone(`table ${String(name)}`, JSON.stringify(rows));
      expectNone(
        `table ${String(name)} as text`,
        rows.map(({ text, json }) => `${String(text)}\n${String(json)}`).join('\n'),
      );
    }
    const [row] = await postgres.sql(`SELECT sealed ->> 'token' AS token FROM agent_tools LIMIT 1`);
    expect(row?.['token']).toMatch(/^v1\.k000001(\.[\w-]+){4}$/);
    gateway.signal('SIGTERM');
    expect((await gateway.exited).code).toBe(0);
    const log = gateway.stdout + gateway.stderr;
    expect(log).toContain('a Python tool printed');
    expect(log).toContain('a JavaScript handler printed');
    expectNone('log', log);
    const files = filesUnder(join(dir, 'data'));
    expect(files.some((path) => path.includes('secret-keys'))).toBe(true);
    for (const path of files) expectNone(path, readFileSync(path, 'latin1'));
    expect(statSync(join(dir, 'data/secret-keys/k000001.key')).mode & 0o777).toBe(0o600);
  });
});
