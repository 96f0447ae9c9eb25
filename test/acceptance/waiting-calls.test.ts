// Calls that are accepted before a human has approved them: on the embedded stores and the shared ones, they run once, by themselves.
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  decide,
  runsIn,
  startApprovalBench,
  toolsText,
  type ApprovalBench,
} from '../helpers/approval-kit.ts';
import { callIdOf, callView, callWhen, followEvents } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { STORES, type Stores } from '../helpers/stores.ts';

interface Meta {
  readonly call_id: string;
  readonly call_url?: string;
  readonly status?: string;
  readonly approval_id?: string;
  readonly approval_url?: string;
  readonly approval_expires_at?: string;
}

type Method = (
  message: object,
  metadata: Metadata,
  done: (error: ServiceError | null, answer: Record<string, unknown>) => void,
) => void;

function messagesTo(address: string, key: string) {
  const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
    includeDirs: [resolve(import.meta.dirname, '../../proto')],
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    unified_tool_executor: { v1: { ToolExecutorService: new (address: string, how: object) => object } };
  };
  const client = new loaded.unified_tool_executor.v1.ToolExecutorService(
    address,
    credentials.createInsecure(),
  ) as Record<string, Method> & { close(): void };
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const send = (method: string, message: object) =>
    new Promise<Record<string, unknown>>((done, fail) =>
      client[method]!(message, metadata, (error, answer) => (error === null ? done(answer) : fail(error))),
    );
  return Object.assign(send, { close: () => client.close() });
}

describe.each(STORES)('on %s', (_name, open) => {
  let stores: Stores;
  let bench: ApprovalBench;
  let ann: RestTarget;
  let boss: RestTarget;

  beforeAll(async () => {
    stores = await open();
    bench = await startApprovalBench(stores.settings);
    [ann, boss] = [bench.gateway.key('ann'), bench.gateway.key('boss')];
  });
  afterAll(async () => {
    await bench?.stop();
    await stores?.stop();
  });

  async function wait(tool: string, args: object, body: Record<string, unknown> = {}, headers: object = {}) {
    const asked = { arguments: args, ...body };
    const sent = { prefer: 'respond-async', ...headers };
    const { status, body: said } = await sendTo<{ meta: Meta; data: unknown }>(
      ann,
      'POST',
      `/v1/tools/${tool}/execute`,
      asked,
      sent,
    );
    return {
      status,
      meta: said.meta,
      call: callIdOf(said.meta),
      asked: { id: said.meta.approval_id ?? '', token: '' },
    };
  }
  const approvalOf = async (id: string) =>
    (await request<{ status: string; call_id: string | null }>(boss, 'GET', `/v1/approvals/${id}`)).body;

  it('is accepted, names its approval, and runs once that is given', async () => {
    const note = bench.newNote();
    const { status, meta, call, asked } = await wait('act', { note });
    expect([status, meta.status, meta.approval_url]).toEqual([
      202,
      'waiting_approval',
      `/v1/approvals/${asked.id}`,
    ]);
    expect(await callView(ann, call)).toMatchObject({
      status: 'waiting_approval',
      approval_id: asked.id,
      approval_expires_at: meta.approval_expires_at,
      result: null,
    });
    expect(await approvalOf(asked.id)).toMatchObject({ status: 'pending', call_id: call });
    const followed = followEvents(ann, call);
    expect((await decide(boss, asked)).body.status).toBe('used');
    expect(await callWhen(ann, call)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(runsIn(note)).toEqual(['first ann']);
    expect((await followed).map(({ event, data }) => [event, (data as { status?: string }).status])).toEqual([
      ['status', 'waiting_approval'],
      ['status', 'queued'],
      ['result', undefined],
    ]);
  });

  it('of fifty decisions at once, one has it run', async () => {
    const note = bench.newNote();
    const { call, asked } = await wait('act', { note });
    const answers = await Promise.all(Array.from({ length: 50 }, () => decide(boss, asked)));
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['used']));
    await callWhen(ann, call);
    expect(runsIn(note)).toEqual(['first ann']);
  });

  it('rejected, it ends and tells why', async () => {
    const note = bench.newNote();
    const { call, asked } = await wait('act', { note });
    const said = { decision: 'reject', comment: 'not today' };
    expect((await request(boss, 'POST', `/v1/approvals/${asked.id}/decision`, said)).status).toBe(200);
    expect(await callView(ann, call)).toMatchObject({
      status: 'failed',
      error_type: 'PERMISSION_DENIED',
      reason: 'APPROVAL_REJECTED',
      result: { ok: false, error: { details: { approval_id: asked.id, comment: 'not today' } } },
    });
    expect((await decide(boss, asked)).body.reason).toBe('APPROVAL_CONFLICT');
    expect(runsIn(note)).toEqual([]);
  });

  it('not decided in time, it ends as expired', async () => {
    const { call, asked } = await wait('act_soon', { note: bench.newNote() });
    expect(await callWhen(ann, call)).toMatchObject({
      status: 'failed',
      error_type: 'CONFLICT',
      reason: 'APPROVAL_EXPIRED',
    });
    expect((await decide(boss, asked)).body.reason).toBe('APPROVAL_EXPIRED');
  });

  it('cancelled by its caller, it cannot be approved any more', async () => {
    const note = bench.newNote();
    const { call, asked } = await wait('act', { note });
    const cancelled = await request<{ status: string }>(ann, 'DELETE', `/v1/calls/${call}`);
    expect(cancelled.body.status).toBe('cancelled');
    expect((await approvalOf(asked.id)).status).toBe('cancelled');
    for (const decision of ['approve', 'reject'] as const)
      expect((await decide(boss, asked, decision)).body.reason).toBe('APPROVAL_CONFLICT');
    expect(runsIn(note)).toEqual([]);
  });

  it('cancelled and approved at the same moment, it is one of the two', async () => {
    for (let round = 0; round < 8; round += 1) {
      const note = bench.newNote();
      const { call, asked } = await wait('act', { note });
      const [decided, cancelled] = await Promise.all([
        decide(boss, asked),
        request<{ status?: string }>(ann, 'DELETE', `/v1/calls/${call}`),
      ]);
      expect([200, 409]).toContain(decided.status);
      const { status } = await callWhen(ann, call);
      // One that runs already is asked to stop, and may have done its work by then.
      const wasRunning = decided.status === 200 && cancelled.body.status === 'running';
      expect(wasRunning ? [0, 1] : [status === 'succeeded' ? 1 : 0]).toContain(runsIn(note).length);
    }
  });

  it('a repeat of its idempotency key leads to the same call and the same approval', async () => {
    const note = bench.newNote();
    const key = { 'idempotency-key': `wait-${note.length}-${Math.random()}` };
    const first = await wait('act', { note }, {}, key);
    const again = await wait('act', { note }, {}, key);
    expect([again.call, again.asked.id, again.meta.status]).toEqual([
      first.call,
      first.asked.id,
      'waiting_approval',
    ]);
    await decide(boss, first.asked);
    await callWhen(ann, first.call);
    expect(runsIn(note)).toEqual(['first ann']);
  });

  it('holds no slot: a tool of one slot runs others meanwhile', async () => {
    const waiting = await wait('act_alone', { note: bench.newNote() });
    const other = await wait('act_alone', { note: bench.newNote() });
    await decide(boss, other.asked);
    expect((await callWhen(ann, other.call)).status).toBe('succeeded');
    expect((await callView(ann, waiting.call)).status).toBe('waiting_approval');
  });

  it.each([
    ['handler', 'act', () => bench.write('helper.js', 'export const word = "other";\n')],
    [
      'declaration',
      'act',
      () => bench.write('tools.yaml', toolsText().replaceAll('description: act', 'description: acts')),
    ],
    ['connection', 'pay', () => bench.write('tools.yaml', toolsText(undefined, 'another-token'))],
  ])('with another %s since, it is refused, and says so', async (_what, tool, change) => {
    const note = bench.newNote();
    const { call, asked } = await wait(tool, tool === 'act' ? { note } : {});
    change();
    try {
      await eventually(
        async () =>
          (await request<{ tool_changed: boolean }>(boss, 'GET', `/v1/approvals/${asked.id}`)).body
            .tool_changed,
        'the change',
      );
      await decide(boss, asked);
      expect(await callWhen(ann, call)).toMatchObject({
        status: 'failed',
        error_type: 'CONFLICT',
        reason: 'TOOL_DEFINITION_CHANGED',
      });
      expect(runsIn(note)).toEqual([]);
    } finally {
      bench.restore();
    }
  });

  it('by gRPC the same: StartCall and GetCall name the approval', async () => {
    const note = bench.newNote();
    const grpc = messagesTo(bench.gateway.service.grpcAddress, ann.key);
    const started = await grpc('StartCall', {
      tool: 'act',
      argumentsJson: Buffer.from(JSON.stringify({ note })),
    });
    expect(started).toMatchObject({ ok: true, status: 'waiting_approval' });
    const { callId: id, approvalId } = started as { callId: string; approvalId: string };
    expect(await grpc('GetCall', { id })).toMatchObject({ call: { status: 'waiting_approval', approvalId } });
    await decide(boss, { id: approvalId, token: '' });
    expect((await callWhen(ann, id)).status).toBe('succeeded');
    grpc.close();
  });

  it('with Redis away when it is decided, it runs all the same', async () => {
    await stores.redis?.stop();
    const note = bench.newNote();
    const { call, asked } = await wait('act', { note });
    await decide(boss, asked);
    expect((await callWhen(ann, call)).status).toBe('succeeded');
    expect(runsIn(note)).toEqual(['first ann']);
  });
});
