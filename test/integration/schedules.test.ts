// Schedules through a running gateway: made, understood, run, changed, deleted; embedded, and on Redis and PostgreSQL.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serve, type Service } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { metricValue, request, targetOf, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule, runsOf, type WireSchedule } from '../helpers/schedule-client.ts';
import { STORES, type Stores } from '../helpers/stores.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = ['test/fixtures/async/tools.yaml'];

describe.each(STORES)('schedules on %s', (_name, open) => {
  let stores: Stores;
  let gateway: RunningGateway;
  let agent: RestTarget;
  let admin: RestTarget;
  let dir: string;

  beforeAll(async () => {
    stores = await open();
    gateway = await startGateway({
      tools: TOOLS,
      settings: { ...stores.settings, schedules: { max_per_tenant: 6 } },
    });
    agent = targetOf(gateway, 'agent');
    admin = targetOf(gateway);
    dir = tempDir();
  });
  afterEach(async () => {
    const { body } = await request<{ schedules: WireSchedule[] }>(admin, 'GET', '/v1/schedules');
    for (const { id } of body.schedules) await sendTo(admin, 'DELETE', `/v1/schedules/${id}`);
  });
  afterAll(async () => {
    await gateway.stop();
    await stores.stop();
    removeDir(dir);
  });

  it('runs once, a second from now, for the credential that made it', async () => {
    const note = join(dir, 'once');
    const { status, body } = await makeSchedule(agent, {
      schedule: 'in 1 second',
      tool: 'work',
      arguments: { note },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ understood: { schedule_type: 'once' }, enabled: true, runs: 0 });
    const [nextRun] = body.next_runs ?? [];
    const run = await lastRun(agent, body.id);
    expect(run).toMatchObject({ status: 'succeeded', fire_time: nextRun });
    const { body: call } = await request<object>(agent, 'GET', `/v1/calls/${run.call_id}`);
    expect(call).toMatchObject({ kind: 'scheduled', tool: 'work', status: 'succeeded' });
    const { body: history } = await request<{ calls: object[] }>(admin, 'GET', '/v1/calls?tool=work');
    expect(history.calls).toContainEqual(
      expect.objectContaining({ id: run.call_id, kind: 'scheduled', principal_id: gateway.keys.agent.id }),
    );
    const { body: after } = await request<WireSchedule>(agent, 'GET', `/v1/schedules/${body.id}`);
    expect(after).toMatchObject({
      enabled: false,
      next_run: null,
      next_runs: [],
      runs: 1,
      last_status: 'succeeded',
    });
    expect(readFileSync(note, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('shows what a phrase means and the next five moments, changes of clocks included', async () => {
    const asked = { schedule: 'daily 02:30', time_zone: 'Europe/Berlin' };
    const { status, body } = await request<WireSchedule>(agent, 'POST', '/v1/schedules/preview', asked);
    expect(status).toBe(200);
    expect(body.understood).toEqual({
      schedule_type: 'recurring',
      cron: '30 2 * * *',
      time_zone: 'Europe/Berlin',
    });
    expect(body.next_runs).toHaveLength(5);
    const yearly = { schedule: '30 2 25-31 3 SUN', time_zone: 'Europe/Berlin' };
    const { body: spring } = await request<WireSchedule>(agent, 'POST', '/v1/schedules/preview', yearly);
    expect(spring.next_runs?.length).toBe(5);
  });

  it('offers the readings of a phrase that has more than one', async () => {
    const { status, body } = await makeSchedule(agent, { schedule: 'daily 9', tool: 'work' });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'VALIDATION',
      reason: 'SCHEDULE_NOT_UNDERSTOOD',
      readings: ['daily 9am', 'daily 9pm'],
    });
  });

  it.each([
    [{ schedule: 'daily 9am', tool: 'nothing' }, 404, 'NOT_FOUND'],
    [{ schedule: 'daily 9am', tool: 'work', arguments: { say: 'much' } }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', time_zone: 'Mars/Olympus' }, 400, 'VALIDATION'],
    [{ schedule: '2020-01-01 09:00', tool: 'work' }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', end_at: '2020-01-01T00:00:00Z' }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', misfire: 'catch_up', overlap: 'skip' }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', every: 'day' }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', context: { dry_run: true } }, 400, 'VALIDATION'],
    [{ schedule: 'daily 9am', tool: 'work', context: { tenant_id: 'umbrella' } }, 403, 'PERMISSION_DENIED'],
  ])('refuses %j', async (asked, status, code) => {
    expect(await makeSchedule(agent, asked)).toMatchObject({ status, body: { code } });
  });

  it('refuses what would not fit into a row', async () => {
    const asked = { schedule: 'daily 9am', tool: 'work', arguments: { note: 'x'.repeat(70_000) } };
    expect(await makeSchedule(agent, asked)).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    });
  });

  it('makes no more of them than a tenant may have', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => makeSchedule(agent, { schedule: 'daily 9am', tool: 'work' })),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(6);
    expect(made.find(({ status }) => status === 429)?.body).toMatchObject({ reason: 'TOO_MANY_SCHEDULES' });
  });

  it('the same idempotency key makes one schedule, and another one under it is refused', async () => {
    const asked = { schedule: 'daily 9am', tool: 'work' };
    const key = { 'idempotency-key': 'one-schedule' };
    const [first, again] = [await makeSchedule(agent, asked, key), await makeSchedule(agent, asked, key)];
    expect(again.body.id).toBe(first.body.id);
    expect((await makeSchedule(agent, { ...asked, schedule: 'daily 10am' }, key)).status).toBe(422);
  });

  it('is changed by the version that was looked at, and stops and goes on as it is told', async () => {
    const { body, headers } = await makeSchedule(agent, { schedule: 'daily 9am', tool: 'work' });
    const path = `/v1/schedules/${body.id}`;
    expect(headers.get('etag')).toBe('"1"');
    const off = await sendTo<WireSchedule>(agent, 'PATCH', path, { enabled: false }, { 'if-match': '"1"' });
    expect(off).toMatchObject({ status: 200, body: { enabled: false, next_run: null, version: 2 } });
    const late = await sendTo(agent, 'PATCH', path, { enabled: true }, { 'if-match': '"1"' });
    expect(late).toMatchObject({ status: 412, body: { reason: 'VERSION_MISMATCH' } });
    const on = await sendTo<WireSchedule>(agent, 'PATCH', path, {
      enabled: true,
      schedule: 'weekdays 6pm',
      time_zone: 'Asia/Tokyo',
    });
    expect(on.body).toMatchObject({
      enabled: true,
      understood: { cron: '0 18 * * 1-5' },
      time_zone: 'Asia/Tokyo',
      version: 3,
    });
    expect(on.body.next_runs).toHaveLength(5);
    expect((await sendTo(agent, 'DELETE', path)).status).toBe(204);
    expect((await request(agent, 'GET', path)).status).toBe(404);
  });

  it('belongs to its credential: others of the tenant look and stop it with a permission, other tenants never see it', async () => {
    const { body } = await makeSchedule(agent, { schedule: 'daily 9am', tool: 'work' });
    const path = `/v1/schedules/${body.id}`;
    expect((await request(targetOf(gateway, 'other'), 'GET', path)).status).toBe(404);
    expect((await sendTo(targetOf(gateway, 'other'), 'DELETE', path)).status).toBe(404);
    expect((await request(targetOf(gateway, 'reader'), 'GET', path)).status).toBe(403);
    const foreign = await sendTo(admin, 'PATCH', path, { schedule: 'daily 10am' });
    expect(foreign).toMatchObject({ status: 403, body: { reason: 'NOT_THE_OWNER' } });
    expect((await sendTo(admin, 'PATCH', path, { enabled: false })).status).toBe(200);
    const own = await makeSchedule(admin, { schedule: 'daily 9am', tool: 'work' });
    const { body: list } = await request<{ schedules: WireSchedule[] }>(agent, 'GET', '/v1/schedules');
    expect(list.schedules.map(({ id }) => id)).toEqual([body.id]);
    const page = '/v1/schedules?page_size=1';
    const { body: first } = await request<{ schedules: WireSchedule[]; next_page_token: string }>(
      admin,
      'GET',
      page,
    );
    const { body: second } = await request<typeof first>(
      admin,
      'GET',
      `${page}&page_token=${first.next_page_token}`,
    );
    expect([...first.schedules, ...second.schedules].map(({ id }) => id)).toEqual([own.body.id, body.id]);
    expect(second.next_page_token).toBe('');
  });

  it('counts what it does', async () => {
    const { body } = await makeSchedule(agent, { schedule: 'in 1s', tool: 'work_again' });
    await lastRun(agent, body.id);
    const { metricsUrl } = gateway.service;
    expect(
      await metricValue(metricsUrl, 'ute_schedule_runs_total{outcome="fired"}'.replace(/[{}"]/g, '\\$&')),
    ).toBeGreaterThan(0);
    expect(await metricValue(metricsUrl, 'ute_schedule_lag_seconds_count')).toBeGreaterThan(0);
  });

  it('survives a Redis that forgets everything', async () => {
    const { redis } = stores;
    if (redis === undefined) return;
    const { body } = await makeSchedule(agent, { schedule: 'in 1s', tool: 'work_again' });
    await redis.client.flushall();
    expect(await lastRun(agent, body.id)).toMatchObject({ status: 'succeeded' });
    expect(await runsOf(agent, body.id)).toHaveLength(1);
  });
});

describe.each(STORES)('a gateway on %s that stops before a schedule is due', (_name, open) => {
  let stores: Stores;
  let first: RunningGateway;
  let again: Service | undefined;
  let dir: string;

  beforeAll(async () => (stores = await open()), 60_000);
  beforeEach(async () => {
    dir = tempDir();
    first = await startGateway({ tools: TOOLS, settings: stores.settings });
  });
  afterEach(async () => {
    await again?.stop();
    await first.stop();
    removeDir(dir);
  });
  afterAll(() => stores.stop());

  /** Made, stopped, started with what `change` makes of its settings. */
  async function throughRestart(change: (yaml: string) => string) {
    const asked = { schedule: '2s', tool: 'work', arguments: { note: join(dir, 'note') } };
    const { body } = await makeSchedule(targetOf(first, 'agent'), asked);
    await first.service.stop();
    const path = join(first.dir, 'gateway.yaml');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    again = await serve(loadSettings({ UTE_CONFIG: path }, first.dir), () => undefined);
    const admin = { url: again.restUrl, key: first.keys.admin.text };
    return { made: body, run: await lastRun(admin, body.id), admin };
  }

  it('runs it when it is back, once', async () => {
    const { made, run, admin } = await throughRestart((yaml) => yaml);
    expect(run).toMatchObject({ status: 'succeeded', fire_time: made.next_run });
    expect(readFileSync(join(dir, 'note'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(await runsOf(admin, made.id)).toHaveLength(1);
  });

  it('runs nothing for a credential that was withdrawn meanwhile, and says so', async () => {
    const { run } = await throughRestart((yaml) =>
      yaml.replace(`id: ${first.keys.agent.id}`, 'id: revoked0'),
    );
    expect(run).toMatchObject({ status: 'failed', error_type: 'AUTH' });
    expect(existsSync(join(dir, 'note'))).toBe(false);
  });
});
