// Schedules against those who would have something run later that they may not run now.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuMsOf } from '../helpers/cpu-time.ts';
import { request, targetOf, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule } from '../helpers/schedule-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let gateway: RunningGateway;
let agent: RestTarget;
let admin: RestTarget;
let dir: string;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['test/fixtures/async/tools.yaml'] });
  agent = targetOf(gateway, 'agent');
  admin = targetOf(gateway);
  dir = tempDir();
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

interface Asked {
  readonly approval_id: string;
  readonly confirmation_token: string;
}

/** Asks for the schedule, and has it approved. */
async function approved(asked: object): Promise<string> {
  const { status, body } = await makeSchedule(agent, asked);
  expect(status).toBe(202);
  const { approval_id: id, confirmation_token: token } = body as unknown as Asked;
  await request(admin, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
  return token;
}

describe('a schedule', () => {
  it('of an unsafe tool runs nothing before somebody approved it, who sees when it would run', async () => {
    const note = join(dir, 'approved');
    const asked = { schedule: 'in 1s', tool: 'guarded', arguments: { note } };
    const first = await makeSchedule(agent, asked);
    const { approval_id: id, confirmation_token: token } = first.body as unknown as Asked;
    expect(first).toMatchObject({ status: 202, body: { status: 'approval_required' } });
    expect(first.headers.get('location')).toBe(`/v1/approvals/${id}`);
    const { body: shown } = await request(admin, 'GET', `/v1/approvals/${id}`);
    expect(shown).toMatchObject({
      arguments: { arguments: { note }, schedule: { schedule: 'in 1s', time_zone: 'UTC' } },
    });
    const early = await makeSchedule(agent, { ...asked, context: { confirmation_token: token } });
    expect(early.body).toMatchObject({ reason: 'APPROVAL_PENDING' });
    await request(admin, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    const { body } = await makeSchedule(agent, { ...asked, context: { confirmation_token: token } });
    expect(await lastRun(agent, body.id)).toMatchObject({ status: 'succeeded' });
    expect(existsSync(note)).toBe(true);
  });

  it('is not made every minute with the approval of a single moment', async () => {
    const asked = { schedule: 'in 1h', tool: 'guarded' };
    const context = { confirmation_token: await approved(asked) };
    const other = await makeSchedule(agent, { ...asked, schedule: 'every minute', context });
    expect(other).toMatchObject({ status: 400, body: { reason: 'APPROVAL_MISMATCH' } });
    expect((await makeSchedule(agent, { ...asked, max_runs: 1, context })).status).toBe(400);
  });

  it('is not made with the approval of a single call, nor the call with that of the schedule', async () => {
    const call = await request<{ error: { details: Asked } }>(agent, 'POST', '/v1/tools/guarded/execute', {
      arguments: {},
    });
    const { approval_id: id, confirmation_token: token } = call.body.error.details;
    await request(admin, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    const asked = { schedule: 'in 1h', tool: 'guarded' };
    const made = await makeSchedule(agent, { ...asked, context: { confirmation_token: token } });
    expect(made).toMatchObject({ status: 400, body: { reason: 'APPROVAL_MISMATCH' } });
    const context = { confirmation_token: await approved(asked) };
    const called = await request(agent, 'POST', '/v1/tools/guarded/execute', { arguments: {}, context });
    expect(called.body).toMatchObject({ ok: false, error: { reason: 'APPROVAL_MISMATCH' } });
  });

  it('does not come by a dry run, which needs no approval', async () => {
    const asked = { schedule: 'in 1h', tool: 'guarded', context: { dry_run: true } };
    expect(await makeSchedule(agent, asked)).toMatchObject({ status: 400, body: { code: 'VALIDATION' } });
  });

  it('that was approved for one time is not moved to every minute without another approval', async () => {
    const asked = { schedule: 'in 1h', tool: 'guarded' };
    const { body } = await makeSchedule(agent, {
      ...asked,
      context: { confirmation_token: await approved(asked) },
    });
    const path = `/v1/schedules/${body.id}`;
    expect(await sendTo(agent, 'PATCH', path, { schedule: 'every minute' })).toMatchObject({ status: 202 });
    expect((await request(agent, 'GET', path)).body).toMatchObject({ schedule: 'in 1h', version: 1 });
  });

  it('of another credential does not run as the admin who looks after it', async () => {
    const { body } = await makeSchedule(agent, { schedule: 'daily 9am', tool: 'work' });
    const path = `/v1/schedules/${body.id}`;
    const moved = await sendTo(admin, 'PATCH', path, { schedule: 'in 1s' });
    expect(moved).toMatchObject({ status: 403, body: { reason: 'NOT_THE_OWNER' } });
    await sendTo(admin, 'PATCH', path, { enabled: false });
    const { body: started } = await sendTo(admin, 'PATCH', path, { enabled: true });
    expect(started).toMatchObject({ principal_id: gateway.keys.agent.id, arguments: null });
  });

  it('is not there for another tenant, whatever it does', async () => {
    const { body } = await makeSchedule(agent, { schedule: 'daily 9am', tool: 'work' });
    const path = `/v1/schedules/${body.id}`;
    const other = targetOf(gateway, 'other');
    const answers = [
      await sendTo(other, 'GET', path),
      await sendTo(other, 'PATCH', path, { enabled: false }),
      await sendTo(other, 'DELETE', path),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await request(other, 'GET', '/v1/schedules')).body).toMatchObject({ schedules: [] });
  });

  it('keeps no credential and no token that could be read from its row', async () => {
    const asked = { schedule: 'in 1h', tool: 'guarded' };
    const token = await approved(asked);
    const { body } = await makeSchedule(agent, { ...asked, context: { confirmation_token: token } });
    const { db } = await gateway.service.infra.database.opened();
    const row = await db
      .selectFrom('scheduled_tasks')
      .selectAll()
      .where('id', '=', body.id)
      .executeTakeFirst();
    const text = JSON.stringify(row);
    expect(text).toContain(gateway.keys.agent.id);
    expect(text).not.toContain(agent.key);
    expect(text).not.toContain(token);
  });

  it.each([
    ['a path', '../../v1/calls'],
    ['a NUL', '%00'],
    ['SQL', "' OR 1=1 --"],
    ['half a character', '%F0%9F'],
  ])('with %s for its id is not found', async (_what, id) => {
    const { status } = await sendTo(agent, 'GET', `/v1/schedules/${encodeURIComponent(id)}`);
    expect(status).toBe(404);
  });

  it('whose phrase is made to be slow is refused as quickly as any other', async () => {
    const slow = [
      'every '.repeat(30),
      `${'9'.repeat(190)}m`,
      `mon${',mon'.repeat(40)} 9am`,
      '*/1,'.repeat(40),
      '0 0 31 2 *',
    ];
    const work = async () => {
      for (const schedule of slow) {
        const { status } = await sendTo(agent, 'POST', '/v1/schedules/preview', { schedule });
        expect([200, 400]).toContain(status);
      }
    };
    expect(await cpuMsOf(work)).toBeLessThan(3_000);
  });
});
