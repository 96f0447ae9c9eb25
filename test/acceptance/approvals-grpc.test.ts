// Approvals over gRPC: what one door shows, decides or refuses, the other does for the same reason.
import { resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, runsIn, startApprovalBench, type ApprovalBench } from '../helpers/approval-kit.ts';
import { decisionOfError } from '../helpers/doors.ts';
import { eventually } from '../helpers/eventually.ts';
import { request, sendTo } from '../helpers/rest-client.ts';

type Fields = Readonly<Record<string, unknown>>;
type Unary = (
  message: object,
  by: Metadata,
  done: (error: ServiceError | null, reply?: Fields) => void,
) => void;
type Client = Readonly<Record<string, Unary>> & { close(): void };

interface Outcome {
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  readonly answer?: Fields;
}

const NOBODYS = '01a1fdea-b5f6-7000-b37d-6e9df3cc0263';

let bench: ApprovalBench;
let client: Client;

beforeAll(async () => {
  bench = await startApprovalBench();
  const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
    includeDirs: [resolve(import.meta.dirname, '../../proto')],
    enums: String,
    defaults: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    unified_tool_executor: { v1: { ToolExecutorService: new (address: string, by: object) => Client } };
  };
  client = new loaded.unified_tool_executor.v1.ToolExecutorService(
    bench.gateway.service.grpcAddress,
    credentials.createInsecure(),
  );
});

afterAll(async () => {
  client?.close();
  await bench?.stop();
});

function keyOf(who: string): string {
  return who === 'other' ? bench.gateway.keys.other.text : bench.gateway.key(who).key;
}

const targetOf = (who: string) => ({ url: bench.gateway.url, key: keyOf(who) });

function rpc(method: string, message: object, who: string): Promise<Outcome> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${keyOf(who)}`);
  return new Promise((done) => {
    (client[method] as Unary).call(client, message, metadata, (error, reply) => {
      if (error === null) return done({ answer: reply ?? {} });
      const { type, reason } = decisionOfError(error);
      done({ type, reason });
    });
  });
}

const approvalOf = ({ answer }: Outcome) => answer?.['approval'] as Fields;

async function restRefusal(method: string, path: string, body: object | undefined, who: string) {
  const { status, body: answer } = await request<Fields>(targetOf(who), method, path, body);
  expect(status).toBeGreaterThanOrEqual(400);
  return { type: answer['code'], reason: answer['reason'] };
}

async function recorded(outcome: string): Promise<readonly Fields[]> {
  const path = `/v1/audit?kind=${outcome}`;
  const { body } = await sendTo<{ records: readonly Fields[] }>(bench.admin, 'GET', path);
  return body.records;
}

it('one that is asked for is shown as REST shows it, and once approved the call with its token runs once', async () => {
  const note = bench.newNote();
  const asked = await ask(targetOf('ann'), 'act', { note });
  const shown = approvalOf(await rpc('GetApproval', { id: asked.id }, 'boss'));
  const { body } = await request<Fields>(targetOf('boss'), 'GET', `/v1/approvals/${asked.id}`);
  expect(shown).toMatchObject({
    id: asked.id,
    status: 'pending',
    tool: body['tool'],
    riskLevel: body['risk_level'],
    createdAt: body['created_at'],
    expiresAt: body['expires_at'],
    quorum: 1,
    votes: [],
    callId: '',
    toolChanged: false,
  });
  expect(JSON.parse(String(shown['argumentsJson']))).toEqual({ note });
  expect(JSON.parse(String(shown['wouldJson']))).toEqual(body['would']);
  const listed = await rpc('ListApprovals', { status: 'pending' }, 'boss');
  expect(listed.answer?.['approvals']).toMatchObject([{ id: asked.id }]);
  const decided = await rpc('DecideApproval', { id: asked.id, decision: 'approve', comment: 'fine' }, 'boss');
  expect(approvalOf(decided)).toMatchObject({
    status: 'approved',
    comment: 'fine',
    votes: [{ user: 'boss', givenFor: '', comment: 'fine' }],
  });
  const run = await rpc('Execute', { tool: 'act', argumentsJson: Buffer.from(JSON.stringify({ note })), context: { confirmationToken: asked.token } }, 'ann'); // oxfmt-ignore
  expect(run.answer).toMatchObject({ ok: true });
  expect(runsIn(note)).toHaveLength(1);
});

it('lists are read page by page, newest first, the same at both doors', async () => {
  for (let each = 0; each < 5; each += 1) await ask(targetOf('ann'), 'act', { note: bench.newNote() });
  const byRest: unknown[] = [];
  const byGrpc: unknown[] = [];
  let token = '';
  do {
    const query = new URLSearchParams({ page_size: '2', ...(token !== '' && { page_token: token }) });
    const { body } = await request<Fields>(targetOf('boss'), 'GET', `/v1/approvals?${query.toString()}`);
    const { answer = {} } = await rpc('ListApprovals', { pageSize: 2, pageToken: token }, 'boss');
    byRest.push(...(body['approvals'] as readonly Fields[]).map(({ id }) => id));
    byGrpc.push(...(answer['approvals'] as readonly Fields[]).map(({ id }) => id));
    expect(answer['nextPageToken']).toBe(body['next_page_token']);
    token = String(body['next_page_token']);
  } while (token !== '');
  const { body } = await request<Fields>(targetOf('boss'), 'GET', '/v1/approvals?page_size=1000');
  expect(byRest).toEqual((body['approvals'] as readonly Fields[]).map(({ id }) => id));
  expect(byGrpc).toEqual(byRest);
  expect(byRest.length).toBeGreaterThanOrEqual(5);
  expect(await rpc('ListApprovals', { pageToken: 'e30' }, 'boss')).toEqual(
    await restRefusal('GET', '/v1/approvals?page_token=e30', undefined, 'boss'),
  );
});

it('a call that waits for it runs by itself once it is approved, and is recorded with who decided', async () => {
  const note = bench.newNote();
  const args = { tool: 'act', argumentsJson: Buffer.from(JSON.stringify({ note })) };
  const { answer } = await rpc('StartCall', args, 'ann');
  expect(answer).toMatchObject({ status: 'waiting_approval' });
  const { callId, approvalId } = answer as { callId: string; approvalId: string };
  expect(approvalOf(await rpc('GetApproval', { id: approvalId }, 'boss'))).toMatchObject({ callId });
  expect(await rpc('DecideApproval', { id: approvalId, decision: 'approve' }, 'ann again')).toMatchObject({
    reason: 'SELF_APPROVAL',
  });
  await rpc('DecideApproval', { id: approvalId, decision: 'approve' }, 'boss');
  await eventually(() => expect(runsIn(note)).toHaveLength(1));
  const acts = (await recorded('approval')).filter((each) => JSON.stringify(each).includes(approvalId));
  expect(acts).toMatchObject([{ outcome: 'approved', notes: { decided_by_user: 'boss' } }]);
});

describe('refused for the same reason as by REST:', () => {
  it.each([
    ['an approval that nobody asked for', 'boss', NOBODYS, 'approve'],
    ['one of another tenant', 'other', 'asked', 'approve'],
    ['a decision without the permission', 'ann', 'asked', 'approve'],
    ['one’s own, by another key of the same person', 'ann again', 'asked', 'approve'],
    ['a decision that is none', 'boss', 'asked', 'maybe'],
    ['an id with what no id has', 'boss', 'a\0b', 'approve'],
  ])('%s', async (_name, who, which, decision) => {
    const { id } =
      which === 'asked' ? await ask(targetOf('ann'), 'act', { note: bench.newNote() }) : { id: which };
    const path = `/v1/approvals/${encodeURIComponent(id)}/decision`;
    const overRest = await restRefusal('POST', path, { decision }, who);
    expect(await rpc('DecideApproval', { id, decision }, who)).toEqual(overRest);
  });

  it.each(['ListApprovals', 'GetApproval'])('%s without the permission', async (method) => {
    expect(await rpc(method, { id: NOBODYS }, 'ann')).toEqual(
      await restRefusal('GET', '/v1/approvals', undefined, 'ann'),
    );
  });

  it('a list by a status that is none', async () => {
    expect(await rpc('ListApprovals', { status: 'x' }, 'boss')).toEqual(
      await restRefusal('GET', '/v1/approvals?status=x', undefined, 'boss'),
    );
  });

  it('a refused decision is recorded', async () => {
    const { id } = await ask(targetOf('ann'), 'act', { note: bench.newNote() });
    await rpc('DecideApproval', { id, decision: 'approve' }, 'ann');
    const found = (await recorded('management')).filter((each) => JSON.stringify(each).includes(id));
    expect(found).toMatchObject([{ outcome: 'PERMISSION_DENIED', door: 'grpc' }]);
  });
});
