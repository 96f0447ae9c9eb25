// Policies through each door: one table of decisions, the same for REST, gRPC and calls that run later; and what follows from each.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptCall, callIdOf, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { openDatabase } from '../helpers/open-database.ts';
import {
  CALLERS,
  CASES,
  decisionOf,
  ROLES,
  RULES,
  TOOLS_TEXT,
  type PolicyCase,
} from '../helpers/policy-table.ts';
import { request, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const AT_ONCE = 8;

let dir: string;
let gateway: RunningGateway;
let rest: Door;
let grpc: Door;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'answer.js'), 'export const execute = (args) => args;\n');
  writeFileSync(join(dir, 'tools.yaml'), TOOLS_TEXT);
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    settings: { extensions: { policy: { rules: RULES } } },
    roles: ROLES,
    more: {
      ...CALLERS,
      boss: { tenant: 'acme', roles: ['admin'], user: 'boss' },
      umbrellaBoss: { tenant: 'umbrella', roles: ['admin'], user: 'chief' },
    },
  });
  rest = restDoor(gateway);
  grpc = grpcDoor(gateway);
  await openDatabase(gateway);
});

afterAll(async () => {
  rest.close();
  grpc.close();
  await gateway.stop();
  removeDir(dir);
});

async function throughDoor(door: Door, { tool, args: argumentsJson, caller, context, tenant }: PolicyCase) {
  const beside: Record<string, string> = tenant === undefined ? {} : { 'x-ute-tenant': tenant };
  const { key } = gateway.key(caller);
  return decisionOf(await door.call({ tool, argumentsJson, context, key, beside }));
}

/** Accepted, and run by a worker: what either of the two says. */
async function throughQueue(each: PolicyCase): Promise<string> {
  const target = targetOf(each);
  const answer = await sendLater(target, each);
  if (answer.error !== undefined) return decisionOf(answer.error);
  const { result } = await callWhen(target, answer.callId);
  return decisionOf({ ok: result?.ok === true, ...(result?.error as object | undefined) });
}

function targetOf({ caller, tenant }: PolicyCase): RestTarget {
  return { ...gateway.key(caller), ...(tenant !== undefined && { tenant }) };
}

async function sendLater({ url, key, tenant }: RestTarget, { tool, args, context }: PolicyCase) {
  const response = await fetch(`${url}/v1/tools/${tool}/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      prefer: 'respond-async',
      ...(tenant !== undefined && { 'x-ute-tenant': tenant }),
    },
    body: `{"arguments":${args},"context":${JSON.stringify(context)}}`,
  });
  const { ok, meta, error } = (await response.json()) as {
    ok: boolean;
    meta: { call_id: string; status?: string };
    error: { type: string; reason: string };
  };
  if (meta.status === 'waiting_approval')
    return { callId: '', error: { ok: false, reason: 'APPROVAL_REQUIRED' } };
  if (ok) return { callId: meta.call_id, error: undefined };
  return { callId: '', error: { ok, ...error } };
}

async function decisionsBy(ask: (each: PolicyCase) => Promise<string>): Promise<readonly string[]> {
  const decisions: string[] = [];
  for (let from = 0; from < CASES.length; from += AT_ONCE)
    decisions.push(...(await Promise.all(CASES.slice(from, from + AT_ONCE).map(ask))));
  return decisions;
}

const inWords = (decisions: readonly string[]) =>
  CASES.map(({ tool, args, caller, context }, index) =>
    [tool, args, caller, JSON.stringify(context), decisions[index]].join(' '),
  );
const EXPECTED = inWords(CASES.map(({ decision }) => decision));

describe(`a table of ${CASES.length} decisions`, () => {
  it('holds by REST', async () => {
    expect(inWords(await decisionsBy((each) => throughDoor(rest, each)))).toEqual(EXPECTED);
  });

  it('holds by gRPC', async () => {
    expect(inWords(await decisionsBy((each) => throughDoor(grpc, each)))).toEqual(EXPECTED);
  });

  it('holds for calls that are accepted now and run later', async () => {
    expect(inWords(await decisionsBy(throughQueue))).toEqual(EXPECTED);
  }, 300_000);
});

describe('an explanation', () => {
  it('says of every call of the table what would become of it, for the key that would make it', async () => {
    // A body of the management side takes no integers beyond 2^53 but as text.
    const told = CASES.filter(({ args, caller }) => caller !== 'many' && !/[1-9]\d{15,}[,}]/.test(args));
    const found = await Promise.all(told.map(explained));
    expect(found).toEqual(told.map(({ decision }) => decision));
    expect(told.length).toBeGreaterThan(350);
  });

  it('says what became of each rule, in their order', async () => {
    const question = { tool: 'pay', arguments: { amount: 1001 }, context: { mode: 'text' } };
    const { body } = await request<object>(gateway.key('boss'), 'POST', '/v1/policy/explain', question);
    expect(body).toEqual({
      tool: 'pay',
      decision: 'deny',
      rule: 'too-much',
      message: 'Too much.',
      rules: [
        { rule: 'clerk-limit', outcome: 'false' },
        { rule: 'large-id', outcome: 'false' },
        { rule: 'voice-limit', outcome: 'false' },
        { rule: 'too-much', outcome: 'true' },
        { rule: 'known', outcome: 'not asked' },
        { rule: 'unknown', outcome: 'not asked' },
      ],
      version: { tool: 'pay', version: '1.0.0', content_hash: expect.any(String), source: 'current' },
      refusal: null,
    });
  });

  it('names rules for other tenants to the platform alone', async () => {
    const question = { tool: 'pay', arguments: { amount: 1 } };
    const admin = { url: gateway.url, key: gateway.keys.admin.text };
    const { body } = await request<{ rules: { rule: string }[] }>(
      admin,
      'POST',
      '/v1/policy/explain',
      question,
    );
    expect(body.rules).toContainEqual({ rule: 'umbrella-pays-not', outcome: 'other tenants' });
  });

  it('is for those who may ask for it, and for keys of their own tenant', async () => {
    const question = { tool: 'pay', arguments: { amount: 1 } };
    const ask = (key: string, more: object = {}) =>
      request<{ reason: string; decision: string }>(gateway.key(key), 'POST', '/v1/policy/explain', {
        ...question,
        ...more,
      });
    expect((await ask('acme')).body.reason).toBe('PERMISSION_MISSING');
    expect((await ask('boss', { key_id: idOf('umbrella') })).status).toBe(404);
    expect((await ask('boss', { key_id: 'zzzzzzzz' })).status).toBe(404);
    expect((await ask('boss', { key_id: idOf('acme') })).body.decision).toBe('none');
    expect((await ask('boss', { key_id: idOf('acme'), context: { user_id: 'bob' } })).body).toMatchObject({
      decision: 'refused',
      refusal: { reason: 'USER_MISMATCH' },
    });
  });

  it('runs nothing, counts nothing and leaves no record of a call', async () => {
    const boss = gateway.key('boss');
    const counted = async () =>
      (await (await fetch(gateway.service.metricsUrl)).text())
        .split('\n')
        .filter((line) => /^ute_(tool_calls|policy_decisions|approvals)_total/.test(line));
    const before = await counted();
    const question = { tool: 'pay', arguments: { amount: 200 }, context: { mode: 'voice' } };
    const asked = await request<object>(boss, 'POST', '/v1/policy/explain', question);
    expect(asked.body).toMatchObject({ decision: 'require_approval', rule: 'voice-limit' });
    expect(await counted()).toEqual(before);
  });
});

const idOf = (name: string) => gateway.key(name).key.split('_')[2] ?? '';
const IN_THE_TABLE: Readonly<Record<string, string>> = {
  none: 'runs',
  allow: 'runs',
  cap: 'runs',
  require_approval: 'asks',
  error: 'fails',
};

async function explained(each: PolicyCase): Promise<string> {
  const { caller, tool, context } = each;
  const asker = caller === 'umbrella' ? 'umbrellaBoss' : 'boss';
  const question = { tool, context, key_id: idOf(caller) };
  const response = await fetch(`${gateway.url}/v1/policy/explain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key(asker).key}`, 'content-type': 'application/json' },
    body: `${JSON.stringify(question).slice(0, -1)},"arguments":${each.args}}`,
  });
  const said = (await response.json()) as { decision: string; rule: string; refusal: { reason: string } };
  if (said.decision === 'refused')
    return said.refusal.reason === 'SCHEMA_MISMATCH' ? 'wrong' : said.refusal.reason;
  return said.decision === 'deny' ? said.rule : (IN_THE_TABLE[said.decision] ?? said.decision);
}

describe('a decision', () => {
  it('that refuses names its rule and says what the rule says', async () => {
    const call = { tool: 'pay', argumentsJson: '{"amount":5000}', key: gateway.key('acme').key };
    const refused = { type: 'PERMISSION_DENIED', reason: 'POLICY_DENIED', message: 'Too much.' };
    expect(await rest.call(call)).toMatchObject({ ...refused, status: 403, details: { rule: 'too-much' } });
    expect(await grpc.call(call)).toMatchObject(refused);
  });

  it('for approval is redeemed once, with the arguments that were approved and no others', async () => {
    const { key } = gateway.key('acme');
    const pay = (amount: number, more: object) =>
      rest.call({
        tool: 'pay',
        argumentsJson: `{"amount":${amount}}`,
        context: { mode: 'voice', ...more },
        key,
      });
    const { details = {} } = await pay(200, {});
    const { approval_id: id, confirmation_token: token } = details as Record<string, string>;
    const decide = { decision: 'approve' };
    expect((await pay(200, { confirmation_token: token })).reason).toBe('APPROVAL_PENDING');
    const decided = await request<Envelope>(
      gateway.key('boss'),
      'POST',
      `/v1/approvals/${id}/decision`,
      decide,
    );
    expect(decided.status).toBe(200);
    expect((await pay(201, { confirmation_token: token })).reason).toBe('APPROVAL_MISMATCH');
    expect((await pay(200, { confirmation_token: token })).ok).toBe(true);
    expect((await pay(200, { confirmation_token: token })).reason).toBe('APPROVAL_USED');
  });

  it('for approval holds for a call that runs later: approved, it runs', async () => {
    const target = gateway.key('acme');
    const context = { mode: 'voice' };
    const asked = await acceptCall(target, 'pay', { amount: 300 }, { context });
    const { approval_id: approval } = asked.body.meta;
    await request(gateway.key('boss'), 'POST', `/v1/approvals/${approval}/decision`, { decision: 'approve' });
    const id = callIdOf(asked.body.meta);
    expect((await callWhen(target, id)).result).toMatchObject({ ok: true, data: { amount: 300 } });
  });

  it('is counted by rule, errors too', async () => {
    const page = await (await fetch(gateway.service.metricsUrl)).text();
    expect(page).toMatch(/ute_policy_decisions_total\{rule="too-much",decision="deny"\} [1-9]/);
    expect(page).toMatch(/ute_policy_decisions_total\{rule="limits",decision="error"\} [1-9]/);
  });
});
