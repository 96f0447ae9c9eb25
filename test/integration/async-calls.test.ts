// Asynchronous calls through a running gateway: embedded, and on Redis and PostgreSQL.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { acceptCall, acceptedId, callView, callWhen, followEvents } from '../helpers/async-client.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { sharedStores, STORES, type Stores } from '../helpers/stores.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = ['test/fixtures/async/tools.yaml'];

/** The same gateway again: same folder, same settings, same keys. */
async function restarted(first: RunningGateway): Promise<{ url: string; stop(): Promise<void> }> {
  await first.service.stop();
  const service = await serve(
    loadSettings({ UTE_CONFIG: join(first.dir, 'gateway.yaml') }, first.dir),
    () => undefined,
  );
  return {
    url: service.restUrl,
    async stop() {
      await service.stop();
      await first.stop();
    },
  };
}

describe.each(STORES)('an asynchronous call on %s', (_name, open) => {
  let stores: Stores;
  let gateway: RunningGateway;
  let agent: RestTarget;
  let dir: string;

  beforeAll(async () => {
    stores = await open();
    gateway = await startGateway({
      tools: TOOLS,
      settings: { ...stores.settings, async: { max_queued_per_tenant: 50 } },
    });
    agent = targetOf(gateway, 'agent');
    dir = tempDir();
  });
  afterAll(async () => {
    await gateway.stop();
    await stores.stop();
    removeDir(dir);
  });
  const letGo: string[] = [];
  afterEach(() => letGo.splice(0).forEach((path) => writeFileSync(path, '')));

  /** A file that a call waits for; it is made at the end at the latest. */
  const gate = (name: string) => {
    const path = join(dir, `${name}-${letGo.length}-${Math.random()}`);
    letGo.push(path);
    return path;
  };
  const running = (id: string) => callWhen(agent, id, ({ status }) => status === 'running');

  it('is accepted with 202 and where to look, and ends in the envelope a direct call gives', async () => {
    const answer = await acceptCall(agent, 'work', { answer: 'later \u2028' });
    const { call_id: id } = answer.body.meta;
    expect(answer).toMatchObject({
      status: 202,
      body: { ok: true, data: null, meta: { status: 'accepted', call_url: `/v1/calls/${id}`, tool: 'work' } },
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      location: `/v1/calls/${id}`,
      'preference-applied': 'respond-async',
      'retry-after': '1',
    });
    expect(await callWhen(agent, id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      result: { ok: true, data: 'later \u2028', meta: { call_id: id, tool: 'work', attempts: 1 } },
    });
  });

  it('is refused at once like a direct call: unknown, wrong, not allowed', async () => {
    expect(await acceptCall(agent, 'nothing')).toMatchObject({
      status: 404,
      body: { error: { type: 'NOT_FOUND' } },
    });
    expect(await acceptCall(agent, 'work', { wrong: 1 })).toMatchObject({
      status: 400,
      body: { error: { reason: 'SCHEMA_MISMATCH' } },
    });
    expect(await acceptCall(targetOf(gateway, 'reader'), 'work')).toMatchObject({ status: 403 });
    expect(await acceptCall({ ...agent, key: 'none' }, 'work')).toMatchObject({ status: 401 });
  });

  it('with an approval that was given before, uses that up when it is accepted', async () => {
    const path = '/v1/tools/guarded/execute';
    const { body: asked } = await request<{
      error: { details: { approval_id: string; confirmation_token: string } };
    }>(agent, 'POST', path, { arguments: {} });
    const { approval_id: approval, confirmation_token: token } = asked.error.details;
    await request(targetOf(gateway), 'POST', `/v1/approvals/${approval}/decision`, { decision: 'approve' });
    const context = { confirmation_token: token };
    const id = await acceptedId(agent, 'guarded', {}, { context });
    expect(await callWhen(agent, id)).toMatchObject({ status: 'succeeded' });
    expect(await acceptCall(agent, 'guarded', {}, { context })).toMatchObject({
      body: { ok: false, error: { reason: 'APPROVAL_USED' } },
    });
  });

  it('ends as failed with the error of its tool, and with an answer that does not fit', async () => {
    const failed = await acceptedId(agent, 'work', { fail: 'no luck' });
    expect(await callWhen(agent, failed)).toMatchObject({
      status: 'failed',
      result: { ok: false, error: { type: 'PERMANENT' } },
    });
    const misfit = await acceptedId(agent, 'work_typed', { answer: 'text' });
    expect(await callWhen(agent, misfit)).toMatchObject({ status: 'succeeded' });
  });

  it('is seen by whoever made it and by calls:read, and by nobody else', async () => {
    const id = await acceptedId(agent, 'work');
    await callWhen(agent, id);
    expect(await callView(targetOf(gateway), id)).toMatchObject({ id });
    for (const who of ['other', 'reader'] as const) {
      expect(await request(targetOf(gateway, who), 'GET', `/v1/calls/${id}`)).toMatchObject({ status: 404 });
      expect(await request(targetOf(gateway, who), 'DELETE', `/v1/calls/${id}`)).toMatchObject({
        status: 404,
      });
      await expect(followEvents(targetOf(gateway, who), id)).rejects.toThrow('404');
    }
  });

  it('tells what it says as it runs, and the rest to who comes back', async () => {
    const until = gate('say');
    const id = await acceptedId(agent, 'work', { say: 4, until });
    const first = await followEvents(agent, id, { enough: 2 });
    expect(first.slice(0, 2)).toMatchObject([
      { id: '1', event: 'progress', data: { fraction: 0.25, message: 'step 1' } },
      { id: '2', event: 'progress' },
    ]);
    const rest = followEvents(agent, id, { after: '2' });
    writeFileSync(until, '');
    expect(await rest).toMatchObject([
      { id: '3', event: 'progress' },
      { id: '4', event: 'progress', data: { message: 'step 4' } },
      { id: '5', event: 'result', data: { ok: true, data: 'done' } },
    ]);
    expect(await followEvents(agent, id, { after: '4' })).toMatchObject([{ id: '5', event: 'result' }]);
  });

  it('stops when it is cancelled, and says so', async () => {
    const id = await acceptedId(agent, 'work', { until: gate('never') });
    await running(id);
    const asked = await request(agent, 'DELETE', `/v1/calls/${id}`);
    expect(asked.status).toBe(200);
    expect(await callWhen(agent, id)).toMatchObject({
      status: 'cancelled',
      result: { error: { type: 'CANCELLED' } },
    });
    expect(await request(agent, 'DELETE', `/v1/calls/${id}`)).toMatchObject({
      status: 409,
      body: { reason: 'CALL_ENDED' },
    });
  });

  it('waits for a limit instead of failing', async () => {
    const until = gate('one');
    const first = await acceptedId(agent, 'one_at_a_time', { until });
    await running(first);
    const second = await acceptedId(agent, 'one_at_a_time');
    await callWhen(agent, second, ({ status, attempts }) => status === 'queued' && attempts === 0);
    writeFileSync(until, '');
    expect(await callWhen(agent, second)).toMatchObject({ status: 'succeeded' });
  });

  it('is run again by an operator only where that can do no harm', async () => {
    const admin = targetOf(gateway);
    const note = join(dir, 'retried');
    const id = await acceptedId(agent, 'work', { note, fail: 'no' });
    await callWhen(agent, id);
    expect(await request(agent, 'POST', `/v1/calls/${id}/retry`)).toMatchObject({ status: 403 });
    expect(await request(admin, 'POST', `/v1/calls/${id}/retry`)).toMatchObject({
      status: 409,
      body: { reason: 'RETRY_UNSAFE' },
    });
    expect(await request(admin, 'POST', `/v1/calls/${id}/retry`, { force: true })).toMatchObject({
      status: 200,
    });
    await callWhen(agent, id);
    expect(readFileSync(note, 'utf8')).toBe(`${id}\n${id}\n`);
  });

  it('that was refused before it was accepted is not run again: nothing of it was kept', async () => {
    const admin = targetOf(gateway);
    const refused = await acceptCall(agent, 'no_such_tool');
    // The history holds what was answered before.
    const { body } = await request<{ calls: { id: string; kind: string }[] }>(admin, 'GET', '/v1/calls');
    const { call_id: id } = refused.body.meta;
    expect(body.calls).toContainEqual(expect.objectContaining({ id, kind: 'async' }));
    expect(await request(admin, 'POST', `/v1/calls/${id}/retry`, { force: true })).toMatchObject({
      status: 409,
      body: { reason: 'RETRY_NOT_ASYNC' },
    });
  });

  it('takes many at once and ends each of them', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => acceptedId(agent, 'work')));
    for (const id of ids)
      expect(await callWhen(agent, id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('keeps no credential and no token', async () => {
    const { db } = await gateway.service.infra.database.opened();
    const rows = await db.selectFrom('calls').selectAll().execute();
    const text = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(0);
    expect(text).not.toContain('ute_live_');
    expect(text).not.toContain('ute_confirm_');
  });

  it('outlives the gateway: what was accepted is run by the next one, what ran is given back', async () => {
    const own = await open();
    const until = gate('restart');
    const settings = { ...own.settings, async: { concurrency: 1 }, shutdown: { drain_ms: 100 } };
    const first = await startGateway({ tools: TOOLS, settings });
    const target = targetOf(first, 'agent');
    const interrupted = await acceptedId(target, 'work_again', { until });
    await callWhen(target, interrupted, ({ status }) => status === 'running');
    const waiting = await acceptedId(target, 'work', { answer: 'after the restart' });
    const second = await restarted(first);
    try {
      writeFileSync(until, '');
      const again = { url: second.url, key: target.key };
      expect(await callWhen(again, interrupted)).toMatchObject({ status: 'succeeded', attempts: 1 });
      expect(await callWhen(again, waiting)).toMatchObject({
        status: 'succeeded',
        result: { data: 'after the restart' },
      });
    } finally {
      await second.stop();
      await own.stop();
    }
  });

  it('whose tool may not be repeated is not run again after the drain cut it off', async () => {
    const own = await open();
    const note = join(dir, 'cut-off');
    const settings = { ...own.settings, shutdown: { drain_ms: 100 } };
    const first = await startGateway({ tools: TOOLS, settings });
    const target = targetOf(first, 'agent');
    const id = await acceptedId(target, 'work', { note, until: gate('cut') });
    await callWhen(target, id, ({ status }) => status === 'running');
    await expect.poll(() => existsSync(note)).toBe(true);
    const second = await restarted(first);
    try {
      const again = { url: second.url, key: target.key };
      expect(await callWhen(again, id)).toMatchObject({
        status: 'outcome_unknown',
        result: { error: { type: 'OUTCOME_UNKNOWN' } },
      });
      expect(readFileSync(note, 'utf8')).toBe(`${id}\n`);
    } finally {
      await second.stop();
      await own.stop();
    }
  });

  it('sends who follows it to another replica when the gateway stops', async () => {
    const own = await open();
    const leaving = await startGateway({
      tools: TOOLS,
      settings: { ...own.settings, shutdown: { drain_ms: 100 } },
    });
    const target = targetOf(leaving, 'agent');
    const id = await acceptedId(target, 'work_again', { say: 1, until: gate('leave') });
    await followEvents(target, id, { enough: 1 });
    const following = followEvents(target, id, { after: '1' });
    await callWhen(target, id, ({ status }) => status === 'running');
    await pause(100);
    await leaving.stop();
    expect(await following).toMatchObject([{ event: 'reconnect' }]);
    await own.stop();
  });
});

describe('an asynchronous call that waits', () => {
  it('runs although Redis forgot everything meanwhile', async () => {
    const stores = await sharedStores();
    const dir = tempDir();
    const until = join(dir, 'go');
    const busy = await startGateway({
      tools: TOOLS,
      settings: { ...stores.settings, async: { concurrency: 1 } },
    });
    const target = targetOf(busy, 'agent');
    const first = await acceptedId(target, 'work_again', { until });
    await callWhen(target, first, ({ status }) => status === 'running');
    const ids = await Promise.all([1, 2, 3].map(() => acceptedId(target, 'work')));
    await stores.redis?.client.flushall();
    writeFileSync(until, '');
    for (const id of [first, ...ids])
      expect(await callWhen(target, id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    await busy.stop();
    await stores.stop();
    removeDir(dir);
  });
});
