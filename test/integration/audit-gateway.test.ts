// The records of running gateways: history by REST, restarts, a database that is cut off, and very many calls.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serve, type Service } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { CALL_HISTORY } from '../helpers/call-history-sql.ts';
import { auditTrail } from '../helpers/audit-kit.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { callTool, metricValue, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';

const TOOLS = ['test/fixtures/audit/tools.yaml'];

interface WireCall {
  readonly [field: string]: unknown;
  readonly id: string;
  readonly status: string;
}
interface Page {
  readonly calls: readonly WireCall[];
  readonly next_page_token: string;
}

const listCalls = async (target: RestTarget, query = '') =>
  request<Page>(target, 'GET', `/v1/calls${query === '' ? '' : `?${query}`}`);

async function again(gateway: RunningGateway): Promise<Service> {
  return serve(loadSettings({ UTE_CONFIG: join(gateway.dir, 'gateway.yaml') }, gateway.dir), () => undefined);
}

describe('an embedded gateway', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      tools: TOOLS,
      roles: { viewer: ['tools:read'] },
      more: {
        stray: { tenant: 'acme', roles: ['agent'], agents: ['front'], user: 'ann' },
        viewer: { tenant: 'acme', roles: ['viewer'] },
        many: { tenants: ['acme', 'umbrella'], roles: ['agent'] },
      },
    });
  });
  afterAll(() => gateway?.stop());
  const idOf = (name: string) => gateway.key(name).key.split('_')[2];
  const database = () => gateway.service.infra.database.db;

  it('has its database open when it is ready', () => {
    expect(gateway.service.infra.database.isOpen).toBe(true);
    expect(existsSync(join(gateway.dir, 'data', 'postgres', 'cluster'))).toBe(true);
  });

  it('has every call in its history, refused ones too, and nobody else’s', async () => {
    const [admin, agent, other] = [targetOf(gateway), targetOf(gateway, 'agent'), targetOf(gateway, 'other')];
    await callTool(agent, 'look', { n: 1 });
    await callTool(agent, 'change', { n: 2 });
    await callTool(agent, 'change', { n: 'two' });
    await callTool(agent, 'no_such_tool');
    await callTool(other, 'look', { n: 3 });
    await callTool({ ...agent, key: 'nobody' }, 'look');
    const { status, body } = await listCalls(admin);
    expect(status).toBe(200);
    expect(body.calls.map((call) => [call['tool'], call.status, call['error_type'], call['kind']])).toEqual([
      ['no_such_tool', 'failed', 'NOT_FOUND', 'sync'],
      ['change', 'failed', 'VALIDATION', 'sync'],
      ['change', 'succeeded', null, 'sync'],
      ['look', 'succeeded', null, 'sync'],
    ]);
    expect(body.calls.every((call) => call['principal_id'] === gateway.keys.agent.id)).toBe(true);
    const trail = await auditTrail(gateway);
    expect(trail.map(({ kind }) => kind).toSorted()).toEqual([
      'intent',
      'outcome',
      'outcome',
      'outcome',
      'outcome',
    ]);
    expect((await listCalls(admin, 'status=succeeded&tool=look')).body.calls).toHaveLength(1);
  });

  it('has who was refused for what it asked with a good credential: in the tenant of that, without what it said of itself', async () => {
    const stray = gateway.key('stray');
    const path = '/v1/tools/look/execute';
    const args = { n: 1 };
    for (const context of [{ agent_id: 'back' }, { user_id: 'bob' }, { tenant_id: 'umbrella' }])
      await request(stray, 'POST', path, { arguments: args, context });
    await request(gateway.key('viewer'), 'POST', path, { arguments: args });
    await request(gateway.key('many'), 'POST', path, { arguments: args });
    const trail = await auditTrail(gateway, 'outcome=PERMISSION_DENIED');
    expect(
      trail.map((each) => [each['reason'], each['principal_id'], each['agent_id'], each['user_id']]),
    ).toEqual([
      ['PERMISSION_MISSING', idOf('viewer'), '', ''],
      ['TENANT_MISMATCH', idOf('stray'), '', ''],
      ['USER_MISMATCH', idOf('stray'), '', ''],
      ['AGENT_MISMATCH', idOf('stray'), '', ''],
    ]);
    // One of several tenants names none: its record is of none.
    const { rows } = await sql`
      SELECT principal_id, tenant_id FROM audit_trail WHERE reason = 'TENANT_REQUIRED'`.execute(database());
    expect(rows[0]).toEqual({ principal_id: idOf('many'), tenant_id: '' });
  });

  it('has who asked the management side for a tenant that the credential does not serve', async () => {
    const elsewhere = { ...gateway.key('stray'), tenant: 'umbrella' };
    const { status } = await request(elsewhere, 'DELETE', '/v1/sessions/ses_x');
    expect(status).toBe(403);
    const [refused] = await auditTrail(gateway, `kind=management&principal_id=${idOf('stray')}`);
    expect(refused).toMatchObject({
      reason: 'TENANT_MISMATCH',
      outcome: 'PERMISSION_DENIED',
      notes: { action: 'sessions.end', target: 'ses_x' },
    });
  });

  it('has so many calls of unknown credentials a second, and of the others how many there were', async () => {
    const count = 400;
    const nobody = { ...targetOf(gateway, 'agent'), key: 'nobody' };
    await Promise.all(Array.from({ length: count }, () => callTool(nobody, 'look')));
    const omitted = await metricValue(gateway.service.metricsUrl, 'ute_audit_omitted_total');
    expect(omitted).toBeGreaterThan(0);
    await eventually(async () => {
      const { rows } = await sql`
        SELECT sum((notes::jsonb ->> 'dropped')::int)::int AS dropped FROM audit_trail
        WHERE kind = 'gap' AND tenant_id = ''`.execute(database());
      expect(rows).toEqual([{ dropped: omitted }]);
    });
    expect(await metricValue(gateway.service.metricsUrl, 'ute_audit_dropped_total')).toBe(0);
  });

  it('records a tool the way its declaration says', async () => {
    const { body } = await callTool(targetOf(gateway, 'agent'), 'change_lightly', { n: 1 });
    const { call_id: id } = body.meta as unknown as { call_id: string };
    expect((await auditTrail(gateway, `call_id=${id}`)).map(({ kind }) => kind)).toEqual(['outcome']);
  });

  it('pages by an opaque token', async () => {
    const admin = targetOf(gateway);
    const seen: string[] = [];
    let token = '';
    do {
      const page = token === '' ? '' : `&page_token=${token}`;
      const { body } = await listCalls(admin, `page_size=3${page}`);
      seen.push(...body.calls.map(({ id }) => id));
      token = body.next_page_token;
    } while (token !== '');
    const all = (await listCalls(admin)).body.calls.map(({ id }) => id);
    expect(seen).toEqual(all);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each([
    ['nosuch=1', /nosuch/],
    ['status=done', /must be one of/],
    ['from=yesterday', /must be a time/],
    ['page_token=%00', /page_token/],
    ['page_token=e30', /next_page_token/],
    ['tool=%00', /characters/],
    ['tool=a&tool=b', /given once/],
    ['page_size=0', /page_size/],
  ])('refuses ?%s with a sentence', async (query, sentence) => {
    const { status, body } = await listCalls(targetOf(gateway), query);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(sentence);
  });

  it('shows its history to those with the permission only', async () => {
    expect((await listCalls(targetOf(gateway, 'agent'))).status).toBe(403);
    expect((await request(targetOf(gateway, 'agent'), 'GET', '/v1/audit')).status).toBe(403);
    const resolve = { outcome: 'failed', comment: 'no' };
    const path = '/v1/calls/x/resolve';
    expect((await request(targetOf(gateway, 'agent'), 'POST', path, resolve)).status).toBe(403);
    expect((await request(targetOf(gateway), 'POST', path, resolve)).status).toBe(404);
    expect((await request(targetOf(gateway), 'POST', path, { outcome: 'failed' })).status).toBe(400);
    const [known] = (await listCalls(targetOf(gateway))).body.calls;
    const answer = await request(targetOf(gateway), 'POST', `/v1/calls/${known?.id ?? ''}/resolve`, resolve);
    expect(answer).toMatchObject({ status: 409, body: { reason: 'OUTCOME_KNOWN' } });
  });

  it('keeps approvals and history over a restart: what was approved before is redeemed after', async () => {
    const asked = await callTool(targetOf(gateway, 'agent'), 'wire_money', { n: 1 });
    expect(asked.status).toBe(202);
    const { approval_id: id, confirmation_token: token } = (
      asked.body.error as unknown as { details: Record<string, string> }
    ).details;
    const decided = await request(targetOf(gateway), 'POST', `/v1/approvals/${id ?? ''}/decision`, {
      decision: 'approve',
    });
    expect(decided.status).toBe(200);
    await gateway.service.stop();
    const second = await again(gateway);
    try {
      const agent = { url: second.restUrl, key: gateway.keys.agent.text };
      const admin = { url: second.restUrl, key: gateway.keys.admin.text };
      const body = { arguments: { n: 1 }, context: { confirmation_token: token } };
      const redeemed = await request(agent, 'POST', '/v1/tools/wire_money/execute', body);
      expect(redeemed).toMatchObject({ status: 200, body: { ok: true, data: { n: 1 } } });
      const twice = await request(agent, 'POST', '/v1/tools/wire_money/execute', body);
      expect(twice).toMatchObject({ status: 400, body: { error: { reason: 'APPROVAL_USED' } } });
      const history = await listCalls(admin, 'tool=wire_money');
      expect(history.body.calls.map((call) => call['error_type'])).toEqual([
        'VALIDATION',
        null,
        'CONFIRMATION_REQUIRED',
      ]);
      const trail = await request<{ records: unknown[] }>(admin, 'GET', '/v1/audit?kind=approval');
      expect(trail.body.records).toMatchObject([
        { outcome: 'approved', principal_id: gateway.keys.admin.id, notes: { approval_id: id } },
      ]);
    } finally {
      await second.stop();
    }
    expect(readdirSync(join(gateway.dir, 'data', 'audit'))).toEqual([]);
  });
});

describe('a gateway on PostgreSQL', () => {
  let postgres: Postgres;
  let proxy: TcpProxy;
  let gateway: RunningGateway;

  beforeAll(async () => {
    postgres = await startPostgres();
    proxy = await startTcpProxy(postgres.port);
    gateway = await startGateway({
      tools: TOOLS,
      settings: { database: { url: postgres.url(undefined, proxy.port) } },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await proxy?.close();
    await postgres?.stop();
  });

  const rows = async () =>
    postgres.sql(`SELECT id, tool, status, finished_at FROM ${CALL_HISTORY} AS call ORDER BY id`);
  const manyCalls = async (count: number, at: (index: number) => void = () => undefined) => {
    const agent = targetOf(gateway, 'agent');
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        at(index);
        return callTool(agent, index % 2 === 0 ? 'look' : 'change', { n: index });
      }),
    );
    return answers.map(
      ({ body }) => body as unknown as { ok: boolean; error?: { reason: string }; meta: { call_id: string } },
    );
  };
  beforeEach(() => postgres.sql('TRUNCATE calls, audit_trail CASCADE'));

  it('has one row with one end for each of a thousand calls, two hundred at a time', async () => {
    const answers = [];
    for (let round = 0; round < 5; round += 1) answers.push(...(await manyCalls(200)));
    await listCalls(targetOf(gateway), 'page_size=1');
    const found = await rows();
    expect(found.map(({ id }) => id)).toEqual(answers.map(({ meta }) => meta.call_id).toSorted());
    expect(found.filter((row) => row['status'] !== 'succeeded' || row['finished_at'] === null)).toEqual([]);
    const [counts] = await postgres.sql(
      `SELECT count(*) FILTER (WHERE kind = 'intent')::int AS intents, count(*) FILTER (WHERE kind = 'outcome')::int AS outcomes FROM audit_trail`,
    );
    expect(counts).toEqual({ intents: 500, outcomes: 1_000 });
  });

  it('loses no record and keeps none twice when the database is cut off in the middle again and again', async () => {
    const answers = [];
    for (let round = 0; round < 8; round += 1) {
      const cutting = setTimeout(() => proxy.cut(), 5 + round * 7);
      answers.push(...(await manyCalls(60)));
      clearTimeout(cutting);
      proxy.cut();
    }
    const refused = answers.filter(({ ok }) => !ok);
    expect(new Set(refused.map(({ error }) => error?.reason))).toEqual(
      new Set(refused.length === 0 ? [] : ['AUDIT_UNAVAILABLE']),
    );
    await expect
      .poll(async () => (await rows()).length, { timeout: 30_000, interval: 200 })
      .toBe(answers.length);
    await expect
      .poll(async () => (await rows()).filter((row) => row['finished_at'] === null), {
        timeout: 30_000,
        interval: 200,
      })
      .toEqual([]);
    const byId = new Map((await rows()).map((row) => [row['id'], row['status']]));
    for (const { ok, meta } of answers) expect(byId.get(meta.call_id)).toBe(ok ? 'succeeded' : 'failed');
    const [counts] = await postgres.sql(
      `SELECT count(*)::int AS outcomes, count(DISTINCT call_id)::int AS calls FROM audit_trail WHERE kind = 'outcome'`,
    );
    expect(counts).toEqual({ outcomes: answers.length, calls: answers.length });
  });

  it('without the database, refuses what changes something before it runs, and goes on reading', async () => {
    const agent = targetOf(gateway, 'agent');
    const block = setInterval(() => proxy.cut(), 1);
    try {
      const refused = await callTool(agent, 'change', { n: 1 });
      expect(refused).toMatchObject({
        status: 503,
        body: { error: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' } },
      });
      expect(await callTool(agent, 'look', { n: 1 })).toMatchObject({ status: 200 });
    } finally {
      clearInterval(block);
    }
    await expect.poll(async () => (await rows()).length, { timeout: 30_000, interval: 200 }).toBe(2);
  });
});
