// Whole databases of older releases (test/fixtures/database: their schema as their migrations made it, and what their gateways wrote) under
// today's program: two replicas start on each at once, and everything that was there is read through today's API.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { MIGRATIONS } from '../../src/infra/postgres/migrations/index.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOKEN = 'a-token-from-before';
const RELEASES = [
  {
    // Migrations 0001 to 0010: audit records in a table without a chain; no keys, agents and sessions.
    name: 'before-audit-trail',
    applied: 10,
    keys: [],
    sessions: [],
    desk: { greeting: 'hello', length: 0 },
  },
  {
    // 0001 to 0027: all but an audit trail that nobody can change.
    name: 'before-append-only',
    applied: 16,
    keys: ['voice backend'],
    sessions: ['other'],
    desk: { greeting: 'hi', length: TOKEN.length },
  },
];

describe.each(RELEASES)('a database from $name', ({ name, applied, ...written }) => {
  let postgres: Postgres;
  let replicas: readonly RunningGateway[];
  let before: readonly Record<string, unknown>[];

  const get = async <Body>(path: string, replica = 0) => {
    const answer = await request<Body>(targetOf(replicas[replica] as RunningGateway), 'GET', path);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const call = (tool: string, args: object, context: object = {}) =>
    request<Envelope>(targetOf(replicas[0] as RunningGateway), 'POST', `/v1/tools/${tool}/execute`, {
      arguments: args,
      context,
    });
  async function ute(...argv: readonly string[]) {
    const said: string[] = [];
    const out = (text: string) => void said.push(text);
    const env = { UTE_DATABASE_URL: postgres.url() };
    const cwd = replicas[0]?.dir ?? '';
    const code = await run(argv, { stdout: out, stderr: out, readStdin: async () => '', fetch, env, cwd });
    return { code, said: said.join('') };
  }
  const migrations = () => postgres.sql('SELECT name, "timestamp" FROM ute_migrations ORDER BY name');

  beforeAll(async () => {
    process.env['TEST_AGENTS_PORT'] = '9';
    postgres = await startPostgres();
    await postgres.sql(readFileSync(`test/fixtures/database/${name}.sql`, 'utf8'));
    before = await migrations();
    const start = () =>
      startGateway({
        tools: ['config/tools.yaml', 'test/fixtures/agents/tools.yaml'],
        settings: {
          database: { url: postgres.url() },
          secrets: { keys: `k1:${Buffer.alloc(32, 7).toString('base64')}` },
        },
      });
    replicas = await Promise.all([start(), start()]);
  });

  afterAll(async () => {
    await Promise.all((replicas ?? []).map((each) => each.stop()));
    await postgres?.stop();
  });

  it('is brought up to date once by two that start at once, and again changes nothing', async () => {
    expect(before).toHaveLength(applied);
    const after = await migrations();
    expect(after.map((row) => row['name'])).toEqual(Object.keys(MIGRATIONS).toSorted());
    expect(after.slice(0, applied)).toEqual(before);
    expect(await ute('migrate')).toMatchObject({ code: 0 });
    expect(await migrations()).toEqual(after);
  });

  it('has its calls, approvals and schedules, through either replica', async () => {
    for (const replica of [0, 1]) {
      const { calls } = await get<{ calls: { tool: string; status: string; kind: string }[] }>(
        '/v1/calls?page_size=100',
        replica,
      );
      const ended = calls
        .filter(({ status }) => status === 'succeeded')
        .map(({ tool, kind }) => `${tool} ${kind}`);
      expect(ended.toSorted()).toEqual(expect.arrayContaining(['delete_note sync', 'echo async']));
      const { approvals } = await get<{ approvals: { id: string; tool: string; status: string }[] }>(
        '/v1/approvals',
        replica,
      );
      expect(approvals.map(({ tool }) => tool)).toEqual(['delete_note', 'delete_note']);
      expect(approvals.map(({ status }) => status)).toContain('used');
      const { id } = approvals[0] ?? { id: '' };
      expect(await get(`/v1/approvals/${id}`, replica)).toMatchObject({ arguments: { note_id: 'note-2' } });
    }
    const { schedules } = await get<{ schedules: { tool: string; schedule: string }[] }>('/v1/schedules');
    expect(schedules).toMatchObject([{ tool: 'echo', schedule: 'every monday at 9am' }]);
    const [accepted] = await postgres.sql(`SELECT id FROM calls WHERE kind = 'async'`);
    expect(await get(`/v1/calls/${String(accepted?.['id'])}`)).toMatchObject({
      status: 'succeeded',
      result: { data: { text: 'later' } },
    });
  });

  it('has its audit records, in a chain that holds', async () => {
    const { records } = await get<{ records: { tool: string; outcome: string }[] }>(
      '/v1/audit?page_size=100',
    );
    expect(records.map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(['echo', 'delete_note', 'end_call']),
    );
    const { url, key } = targetOf(replicas[0] as RunningGateway);
    expect(await ute('audit', 'export', 'chain.jsonl', '--url', url, '--key', key)).toMatchObject({
      code: 0,
    });
    expect(await ute('audit', 'verify', 'chain.jsonl')).toMatchObject({ code: 0 });
  });

  it('has its keys, agents with their secrets, and sessions, as far as it had any', async () => {
    const { keys } = await get<{ keys: { name: string }[] }>('/v1/keys');
    expect(keys.map((key) => key.name)).toEqual(written.keys);
    const { body } = await call('leaky_in_gateway', {}, { agent_id: 'desk' });
    expect(body).toMatchObject({ ok: true, data: written.desk });
    const { sessions } = await get<{ sessions: { agent_id: string }[] }>('/v1/sessions');
    expect(sessions.map((session) => session.agent_id)).toEqual(written.sessions);
  });

  it('takes new calls, schedules, keys and agents beside the old ones', async () => {
    expect((await call('echo', { text: 'today' })).body.ok).toBe(true);
    const made = async (path: string, body: object) =>
      (await request(targetOf(replicas[1] as RunningGateway), 'POST', path, body)).status;
    expect(await made('/v1/agents', { name: 'fresh' })).toBe(201);
    expect(await made('/v1/keys', { name: 'fresh', roles: ['agent'], tenant: 'acme' })).toBe(201);
    const schedule = { schedule: 'every monday at 9am', tool: 'echo', arguments: { text: 'x' } };
    expect(await made('/v1/schedules', schedule)).toBe(201);
  });

  it('still takes what the older release writes: a call, as its statements have it', async () => {
    // Expand and contract: columns that came since have defaults, and none of its own is gone.
    const [row] = await postgres.sql(
      `SELECT to_jsonb(c) AS own FROM calls c WHERE status = 'succeeded' LIMIT 1`,
    );
    const dump = readFileSync(`test/fixtures/database/${name}.sql`, 'utf8');
    const table = /CREATE TABLE "?calls"? \(([\s\S]*?)\n?\)\s*;/i.exec(dump)?.[1] ?? '';
    const known = Object.keys(row?.['own'] as object).filter((column) => table.includes(column));
    expect(known.length).toBeGreaterThan(10);
    const columns = known.map((column) => `"${column}"`).join(', ');
    const others = known.map((column) =>
      column === 'id' ? `'01a20930-0000-7000-8000-000000000001'` : `c."${column}"`,
    );
    await postgres.sql(
      `INSERT INTO calls (${columns}) SELECT ${others.join(', ')} FROM calls c WHERE status = 'succeeded' LIMIT 1`,
    );
    expect(await get('/v1/calls/01a20930-0000-7000-8000-000000000001')).toMatchObject({
      status: 'succeeded',
    });
  });
});
