// Attacks on approvals and idempotency: used again, given by whoever asked, outlived by what they were given for, taken by others.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serve } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import {
  ask,
  askedOf,
  decide,
  redeem,
  runsIn,
  startApprovalBench,
  toolsText,
  type ApprovalBench,
} from '../helpers/approval-kit.ts';
import { acceptCall, acceptedId, callView, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';

const POLL = { timeout: 40_000, interval: 50 };

let bench: ApprovalBench;
let rest: Door;
let grpc: Door;
let ann: RestTarget;
let boss: RestTarget;
let service: RestTarget;

beforeAll(async () => {
  bench = await startApprovalBench();
  const { gateway } = bench;
  [rest, grpc] = [restDoor(gateway), grpcDoor(gateway)];
  [ann, boss, service] = [gateway.key('ann'), gateway.key('boss'), gateway.key('service')];
});

afterAll(async () => {
  grpc.close();
  await bench.stop();
});

const idOf = ({ key }: RestTarget) => key.slice('ute_live_'.length, 'ute_live_'.length + 8);
const retry = (who: RestTarget, id: string, body: object = {}) =>
  request<{ status: string; reason: string; permission?: string }>(who, 'POST', `/v1/calls/${id}/retry`, {
    force: true,
    ...body,
  });

describe('one approval is good for one execution', () => {
  it('however often its call is retried: each retry asks again, and needs tools:call', async () => {
    const args = { note: bench.newNote(), fail: 'as told' };
    const asked = await ask(ann, 'act', args);
    await decide(boss, asked);
    const id = await acceptedId(ann, 'act', args, { context: { confirmation_token: asked.token } });
    await callWhen(ann, id);
    expect(runsIn(args.note)).toHaveLength(1);
    for (let again = 0; again < 3; again += 1)
      expect(await retry(bench.gateway.key('operator'), id)).toMatchObject({
        status: 403,
        body: { reason: 'PERMISSION_MISSING', permission: 'tools:call' },
      });
    const waits = await retry(ann, id);
    expect(waits).toMatchObject({ status: 202, body: { status: 'approval_required' } });
    for (const token of [asked.token, 'ute_confirm_x'])
      expect((await retry(ann, id, { confirmation_token: token })).status).toBe(400);
    const agreed = askedOf(waits as Parameters<typeof askedOf>[0]);
    expect((await retry(ann, id, { confirmation_token: agreed.token })).body.reason).toBe('APPROVAL_PENDING');
    await decide(boss, agreed);
    // It is for this retry, and for no call.
    expect((await redeem(grpc, ann, 'act', args, agreed)).reason).toBe('APPROVAL_MISMATCH');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => retry(ann, id, { confirmation_token: agreed.token })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await callWhen(ann, id, ({ status }) => status === 'failed');
    expect((await retry(ann, id, { confirmation_token: agreed.token })).status).toBe(400);
    expect(runsIn(args.note)).toHaveLength(2);
  });

  it('and the records name who retried', async () => {
    const id = await acceptedId(ann, 'note', { note: bench.newNote(), fail: 'as told' });
    await callWhen(ann, id);
    expect((await retry(service, id)).status).toBe(200);
    await callWhen(ann, id, ({ status }) => status === 'failed');
    const auditor = bench.gateway.key('auditor');
    const { body } = await request<{ records: Record<string, unknown>[] }>(
      auditor,
      'GET',
      `/v1/audit?call_id=${id}`,
    );
    const by = idOf(service);
    expect(body.records).toContainEqual(
      expect.objectContaining({
        kind: 'management',
        principal_id: by,
        outcome: 'ok',
        notes: { action: 'calls.retry', target: id },
      }),
    );
    expect(body.records).toContainEqual(expect.objectContaining({ kind: 'outcome', principal_id: by }));
  });

  it('whoever redeems it at the same time: by REST, by gRPC, to run later, and for a schedule', async () => {
    const args = { note: bench.newNote() };
    const asked = await ask(ann, 'act', args);
    await decide(boss, asked);
    const context = { confirmation_token: asked.token };
    const tries = Array.from({ length: 6 }, () => [
      redeem(rest, ann, 'act', args, asked).then(({ ok }) => ok),
      redeem(grpc, ann, 'act', args, asked).then(({ ok }) => ok),
      acceptCall(ann, 'act', args, { context }).then(({ status }) => status === 202 && 'later'),
      makeSchedule(ann, { schedule: 'daily 9am', tool: 'act', arguments: args, context }).then(
        ({ status }) => status === 201,
      ),
    ]).flat();
    const won = (await Promise.all(tries)).filter((each) => each !== false);
    expect(won).toHaveLength(1);
    await expect.poll(() => runsIn(args.note).length, POLL).toBe(1);
    expect((await redeem(rest, ann, 'act', args, asked)).reason).toBe('APPROVAL_USED');
  });
});

describe('four eyes are those of two people', () => {
  it.each(['ann again', 'Ann in capitals', 'Ann in wide letters', 'Ann with what cannot be seen'])(
    'a call of ann is not approved by %s',
    async (approver) => {
      const asked = await ask(ann, 'act', { note: bench.newNote() });
      expect(await decide(bench.gateway.key(approver), asked)).toMatchObject({
        status: 403,
        body: { reason: 'SELF_APPROVAL' },
      });
      expect((await decide(boss, asked)).body.status).toBe('approved');
    },
  );

  it('a call that a service makes for ann is not approved by ann', async () => {
    const asked = await ask(service, 'act', { note: bench.newNote() }, { user_id: 'Ann' });
    expect((await decide(bench.gateway.key('ann again'), asked)).body.reason).toBe('SELF_APPROVAL');
    expect((await decide(boss, asked)).body.status).toBe('approved');
  });

  it('a key that names nobody approves nothing, for it could be anybody’s; it may reject', async () => {
    const nobody = bench.gateway.key('nobody');
    for (const who of [ann, service]) {
      const asked = await ask(who, 'act', { note: bench.newNote() });
      expect(await decide(nobody, asked)).toMatchObject({
        status: 403,
        body: { reason: 'APPROVER_UNKNOWN' },
      });
      expect((await decide(nobody, asked, 'reject')).body.status).toBe('rejected');
    }
  });

  it('a retry is not approved by whoever wants it, nor by another key of theirs', async () => {
    const args = { note: bench.newNote(), fail: 'as told' };
    const asked = await ask(service, 'act', args, { user_id: 'ann' });
    await decide(boss, asked);
    const context = { user_id: 'ann', confirmation_token: asked.token };
    const id = await acceptedId(service, 'act', args, { context });
    await callWhen(service, id);
    const again = askedOf((await retry(ann, id)) as Parameters<typeof askedOf>[0]);
    expect((await decide(bench.gateway.key('ann again'), again)).body.reason).toBe('SELF_APPROVAL');
  });

  it('and the records name the person who decided', async () => {
    const asked = await ask(ann, 'act', { note: bench.newNote() });
    await decide(boss, asked);
    const auditor = bench.gateway.key('auditor');
    const { body } = await request<{ records: { notes: object }[] }>(
      auditor,
      'GET',
      '/v1/audit?kind=approval',
    );
    expect(body.records[0]?.notes).toEqual({ approval_id: asked.id, decided_by_user: 'boss' });
  });
});

describe('an approval by REST does not fit any more by gRPC once there has been a change of', () => {
  const CHANGES: readonly (readonly [what: string, tool: string, change: () => void])[] = [
    [
      'the host of the connection',
      'pay',
      () => bench.write('tools.yaml', toolsText('https://elsewhere.example')),
    ],
    [
      'the credentials of the connection',
      'pay',
      () => bench.write('tools.yaml', toolsText(undefined, 'other')),
    ],
    ['the handler’s file', 'act', () => bench.write('act.js', 'export const execute = () => "changed";\n')],
    [
      'a file that the handler imports',
      'act',
      () => bench.write('helper.js', 'export const word = "changed";\n'),
    ],
    ['the handler of a step', 'steps', () => bench.write('helper.js', 'export const word = "later";\n')],
    [
      'the module',
      'module',
      () => bench.write('python/approved_module.py', 'def act(note: str) -> str:\n    return "changed"\n'),
    ],
  ];

  it.each(CHANGES)('%s', async (_what, tool, change) => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    const args = tool === 'pay' ? {} : { note: bench.newNote() };
    const asked = await ask(ann, tool, args);
    await decide(boss, asked);
    change();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    expect(await redeem(grpc, ann, tool, args, asked)).toMatchObject({
      type: 'VALIDATION',
      reason: 'APPROVAL_STALE',
    });
    // Nor by the door that asked for it.
    expect((await redeem(rest, ann, tool, args, asked)).reason).toBe('APPROVAL_STALE');
  });

  it('the arguments, the tool, or the tenant of who redeems it', async () => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    const args = { note: bench.newNote() };
    const asked = await ask(ann, 'act', args);
    await decide(boss, asked);
    const stranger = { url: bench.gateway.url, key: bench.gateway.keys.other.text };
    for (const door of [rest, grpc]) {
      expect((await redeem(door, ann, 'act', { note: bench.newNote() }, asked)).reason).toBe(
        'APPROVAL_MISMATCH',
      );
      expect((await redeem(door, ann, 'act_alone', args, asked)).reason).toBe('APPROVAL_MISMATCH');
      // To another tenant it is no token at all.
      expect((await redeem(door, stranger, 'act', args, asked)).reason).toBe('APPROVAL_UNKNOWN');
    }
    expect((await redeem(rest, ann, 'act', args, asked)).ok).toBe(true);
    expect(runsIn(args.note)).toHaveLength(1);
  });

  it('the time: given and not used before it expired, and not decided in time', async () => {
    const args = { note: bench.newNote() };
    const [given, waiting] = [await ask(ann, 'act_soon', args), await ask(ann, 'act_soon', args)];
    await decide(boss, given);
    for (const { id } of [given, waiting])
      await expect
        .poll(
          async () => (await request<{ status: string }>(boss, 'GET', `/v1/approvals/${id}`)).body.status,
          POLL,
        )
        .toBe('expired');
    for (const door of [rest, grpc])
      for (const asked of [given, waiting])
        expect((await redeem(door, ann, 'act_soon', args, asked)).reason).toBe('APPROVAL_EXPIRED');
    expect((await decide(boss, waiting)).body.reason).toBe('APPROVAL_EXPIRED');
    expect(runsIn(args.note)).toEqual([]);
  });

  it('nothing: it fits by the other door', async () => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    for (const tool of ['act', 'steps', 'module']) {
      const args = { note: bench.newNote() };
      const asked = await ask(ann, tool, args);
      await decide(boss, asked);
      await request(bench.admin, 'POST', '/v1/admin/reload');
      expect([tool, (await redeem(grpc, ann, tool, args, asked)).ok]).toEqual([tool, true]);
    }
  });

  it('the handler before it is loaded again: what is on disk counts at once', async () => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    const args = { note: bench.newNote() };
    const asked = await ask(ann, 'act', args);
    await decide(boss, asked);
    bench.write('helper.js', 'export const word = "swapped";\n');
    expect((await redeem(grpc, ann, 'act', args, asked)).reason).toBe('APPROVAL_STALE');
    expect(runsIn(args.note)).toEqual([]);
  });

  it('the handler while an approved call and an approved schedule wait for their turn', async () => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
    const go = join(bench.dir, 'go');
    const first = { note: bench.newNote(), until: go };
    const holds = await ask(ann, 'act_alone', first);
    await decide(boss, holds);
    const running = redeem(rest, ann, 'act_alone', first, holds);
    const args = { note: bench.newNote() };
    const asked = await ask(ann, 'act_alone', args);
    await decide(boss, asked);
    const scheduled = { schedule: 'in 1 second', tool: 'act_alone', arguments: args };
    const waits = askedOf((await makeSchedule(ann, scheduled)) as unknown as Parameters<typeof askedOf>[0]);
    await decide(boss, waits);
    const id = await acceptedId(ann, 'act_alone', args, { context: { confirmation_token: asked.token } });
    const made = await makeSchedule(ann, { ...scheduled, context: { confirmation_token: waits.token } });
    expect(made.status).toBe(201);
    bench.write('helper.js', 'export const word = "while it waited";\n');
    writeFileSync(go, '');
    expect((await running).ok).toBe(true);
    const runOf = async () =>
      (await sendTo<{ last_runs: { call_id: string }[] }>(ann, 'GET', `/v1/schedules/${made.body.id}`)).body
        .last_runs[0]?.call_id;
    const runId = (await vi.waitUntil(runOf, POLL)) ?? '';
    for (const each of [id, runId]) {
      const ended = await callWhen(ann, each, ({ result }) => result !== null, 40_000);
      expect(ended).toMatchObject({ status: 'failed', reason: 'TOOL_DEFINITION_CHANGED' });
    }
    expect(runsIn(args.note)).toEqual([]);
  });
});

describe('an idempotency key', () => {
  const OTHERS = [
    ['user', { user_id: 'bob' }],
    ['agent', { agent_id: 'other' }],
    ['session', { session_id: 's2' }],
  ] as const;
  const OWN = { user_id: 'ann', agent_id: 'agent', session_id: 's1' };
  const send = (door: Door, tool: string, note: string, context: Readonly<Record<string, string>>) =>
    door.call({ tool, argumentsJson: JSON.stringify({ note }), context, key: service.key });

  beforeAll(async () => {
    bench.restore();
    await request(bench.admin, 'POST', '/v1/admin/reload');
  });

  it.each(OTHERS)('of another %s is another key, by either door', async (what, other) => {
    const note = bench.newNote();
    const key = { idempotency_key: `sync-${what}` };
    expect((await send(rest, 'note', note, { ...OWN, ...key })).ok).toBe(true);
    // The same caller gets the outcome again, whichever door.
    await send(grpc, 'note', note, { ...OWN, ...key });
    expect(runsIn(note)).toHaveLength(1);
    await send(grpc, 'note', note, { ...OWN, ...other, ...key });
    await send(rest, 'note', note, { ...OWN, ...other, ...key });
    expect(runsIn(note)).toHaveLength(2);
  });

  it.each(OTHERS)('of another %s is another key for calls that run later', async (what, other) => {
    const args = { note: bench.newNote() };
    const key = { idempotency_key: `later-${what}` };
    const one = await acceptedId(service, 'note', args, { context: { ...OWN, ...key } });
    const urlOf = async (context: object) =>
      (await acceptCall(service, 'note', args, { context })).body.meta.call_url;
    expect(await urlOf({ ...OWN, ...key })).toBe(`/v1/calls/${one}`);
    expect(await urlOf({ ...OWN, ...other, ...key })).not.toBe(`/v1/calls/${one}`);
  });

  it('gives nobody else the outcome of a dangerous call that was approved', async () => {
    const args = { note: bench.newNote() };
    const key = { idempotency_key: 'danger' };
    const asked = await ask(service, 'act', args, { ...OWN, ...key });
    await decide(boss, asked);
    expect((await redeem(grpc, service, 'act', args, asked, { ...OWN, ...key })).ok).toBe(true);
    for (const door of [rest, grpc]) {
      const decided = await send(door, 'act', args.note, { ...OWN, user_id: 'bob', ...key });
      expect([door.name, decided.ok, decided.type]).toEqual([door.name, false, 'CONFIRMATION_REQUIRED']);
      expect((await send(door, 'act', args.note, { ...OWN, ...key })).ok).toBe(true);
    }
    expect(runsIn(args.note)).toHaveLength(1);
  });

  it('an approval is redeemed for nobody else, by either door', async () => {
    const args = { note: bench.newNote() };
    const asked = await ask(service, 'act', args, OWN);
    await decide(boss, asked);
    for (const door of [rest, grpc])
      for (const other of [{ user_id: 'bob' }, { agent_id: 'other' }])
        expect((await redeem(door, service, 'act', args, asked, { ...OWN, ...other })).reason).toBe(
          'APPROVAL_MISMATCH',
        );
  });

  it('a call that runs later is shown to the user it is made for, where whoever looks says who that is', async () => {
    const id = await acceptedId(service, 'note', { note: bench.newNote() }, { context: OWN });
    await callWhen(service, id);
    const look = async (question: string) =>
      (await request(service, 'GET', `/v1/calls/${id}${question}`)).status;
    expect(await look('?user_id=ann&agent_id=agent&session_id=s1')).toBe(200);
    for (const other of ['?user_id=bob', '?agent_id=other', '?session_id=s2'])
      expect(await look(other)).toBe(404);
    expect((await callView(service, id)).id).toBe(id);
  });
});

it('an approval that was used stays used when the gateway is started again', async () => {
  const args = { note: bench.newNote() };
  const asked = await ask(ann, 'act', args);
  await decide(boss, asked);
  expect((await redeem(rest, ann, 'act', args, asked)).ok).toBe(true);
  const { gateway } = bench;
  await gateway.service.stop();
  const settings = loadSettings({ UTE_CONFIG: join(gateway.dir, 'gateway.yaml') }, gateway.dir);
  const service = await serve(settings, () => undefined);
  try {
    const again = restDoor({ ...gateway, service, url: service.restUrl });
    expect((await redeem(again, ann, 'act', args, asked)).reason).toBe('APPROVAL_USED');
  } finally {
    await service.stop();
  }
  expect(runsIn(args.note)).toHaveLength(1);
});
