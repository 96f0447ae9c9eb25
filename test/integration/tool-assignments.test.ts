// Versions of tools that are assigned to tenants, agents and users: two replicas on one PostgreSQL, and every way to call.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { request, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import type { RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule } from '../helpers/schedule-client.ts';
import { echoFile, edition, putSpec, startKeeping } from '../helpers/specs-kit.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

type Answered = Envelope & {
  readonly meta: {
    readonly tool_version: string;
    readonly version_source?: string;
    readonly call_id: string;
  };
};
interface Assigned {
  readonly content_hash: string;
  readonly version: string;
  readonly tenant: string;
  readonly reason?: string;
}

let dir: string;
let postgres: Postgres;
let one: RunningGateway;
let two: RunningGateway;
let target: RestTarget;
let other: RestTarget;

const versioned = (value: number) => edition(value, { metadata: { version: `${value}.0.0` } });
const CALLS_GREET = {
  description: 'Calls greet',
  tool_type: 'composite',
  input_schema: { type: 'object' },
  implementation_config: {
    steps: [{ id: 'greeted', tool: 'greet', arguments: {} }],
    result: 'steps.greeted',
  },
};

beforeAll(async () => {
  dir = tempDir();
  postgres = await startPostgres();
  const started = () =>
    startKeeping({ file: echoFile(dir), database: postgres.url(), loader: { interval: '500ms' } });
  one = await started();
  // One that both know: each has keys of its own besides.
  const made = { name: 'both', roles: ['platform_admin'], tenant: 'acme' };
  const { key } = (await request<{ key: string }>(targetOf(one), 'POST', '/v1/keys', made)).body;
  target = { url: one.url, key };
  for (const value of [1, 2, 3]) await putSpec(target, 'greet', versioned(value));
  await putSpec(target, 'outer', CALLS_GREET);
  two = await started();
  other = { url: two.url, key };
});

afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await postgres?.stop();
  removeDir(dir);
});

async function call(context: object = {}, tool = 'greet', at = target): Promise<Answered> {
  const body = { arguments: {}, context };
  return (await request<Answered>(at, 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

async function ran(context: object = {}, at = target) {
  const { data, meta } = await call(context, 'greet', at);
  return [data, meta.tool_version, meta.version_source];
}

const assign = (subject: string, version: string) =>
  request<Assigned>(target, 'PUT', `/v1/assignments/greet/${subject}`, { version, reason: 'tested' });
const unassign = (subject: string) => request(target, 'DELETE', `/v1/assignments/greet/${subject}`);

async function without(...subjects: readonly string[]): Promise<void> {
  for (const subject of subjects) expect((await unassign(subject)).status).toBe(204);
}

describe('an assigned version', () => {
  it('runs for its tenant, agent or user, the narrowest first, on every replica within five seconds', async () => {
    expect(await ran()).toEqual([3, '3.0.0', undefined]);
    expect((await assign('tenant/acme', '2.0.0')).body).toMatchObject({ tenant: 'acme', version: '2.0.0' });
    expect(await ran()).toEqual([2, '2.0.0', 'tenant']);
    await assign('agent/desk', '1.0.0');
    await assign('user/ann', '3.0.0');
    expect(await ran({ agent_id: 'desk' })).toEqual([1, '1.0.0', 'agent']);
    expect(await ran({ agent_id: 'desk', user_id: 'ann' })).toEqual([3, '3.0.0', 'user']);
    expect(await ran({ agent_id: 'desk', tool_version: '2.0.0' })).toEqual([2, '2.0.0', 'call']);
    const there = () => ran({ agent_id: 'desk' }, other);
    await eventually(async () => expect(await there()).toEqual([1, '1.0.0', 'agent']), undefined, 5_000);
    await without('agent/desk', 'user/ann', 'tenant/acme');
    await eventually(async () => expect(await there()).toEqual([3, '3.0.0', undefined]), undefined, 5_000);
  });

  it('stands in the audit record of the call with why it ran, and who assigned it in its own', async () => {
    await assign('agent/desk', '1.0.0');
    const { meta } = await call({ agent_id: 'desk' });
    await without('agent/desk');
    const records = async (query: string) => (await request(target, 'GET', `/v1/audit?${query}`)).body;
    await eventually(async () =>
      expect(await records(`call_id=${meta.call_id}&kind=outcome`)).toMatchObject({
        records: [{ tool_version: '1.0.0', notes: { version_source: 'agent' } }],
      }),
    );
    expect(JSON.stringify(await records('kind=management'))).toContain('"action":"assignments.put"');
    expect(await records('kind=management&page_size=2')).toMatchObject({
      records: [
        { notes: { action: 'assignments.delete', target: 'greet/agent/desk', version: '1.0.0' } },
        { notes: { action: 'assignments.put', version: '1.0.0', reason: 'tested', tenant: 'acme' } },
      ],
    });
  });

  it('is that of steps, of calls in a batch, and of accepted and scheduled calls as well', async () => {
    await assign('agent/desk', '1.0.0');
    const context = { agent_id: 'desk' };
    expect((await call(context, 'outer')).data).toBe(1);
    const calls = [
      { tool: 'greet', arguments: {}, context },
      { tool: 'greet', arguments: {} },
    ];
    const batch = await request<{ responses: Answered[] }>(target, 'POST', '/v1/execute', { calls });
    expect(batch.body.responses.map(({ data }) => data)).toEqual([1, 3]);
    const id = await acceptedId(target, 'greet', {}, { context });
    const asked = { schedule: 'in 2 seconds', tool: 'greet', context };
    const schedule = await makeSchedule(target, asked);
    await assign('agent/desk', '2.0.0');
    const { result } = await callWhen(target, id);
    expect(result).toMatchObject({ data: 1, meta: { version_source: 'agent' } });
    const last = await lastRun(target, schedule.body.id);
    const scheduled = await callWhen(target, last.call_id);
    expect(scheduled.result).toMatchObject({ data: 2, meta: { version_source: 'agent' } });
    await without('agent/desk');
  });

  it('is what a session begins with, and stays so in it whatever is assigned later', async () => {
    await assign('agent/desk', '1.0.0');
    const begun = async () =>
      (await request<{ id: string }>(target, 'POST', '/v1/sessions', { agent_id: 'desk' })).body.id;
    const [first, later] = [await begun(), async () => begun()];
    await assign('agent/desk', '2.0.0');
    expect(await ran({ session_id: first })).toEqual([1, '1.0.0', 'session']);
    expect(await ran({ session_id: await later() })).toEqual([2, '2.0.0', 'session']);
    await without('agent/desk');
    expect(await ran({ session_id: first }, other)).toEqual([1, '1.0.0', 'session']);
    const plain = await begun();
    await assign('agent/desk', '1.0.0');
    expect(await ran({ session_id: plain })).toEqual([3, '3.0.0', 'session']);
    await without('agent/desk');
  });

  it('that is gone is VERSION_GONE, and never the one in force; the kill switch is above it', async () => {
    await putSpec(target, 'brief', versioned(1));
    const { body } = await request<Assigned>(target, 'PUT', '/v1/assignments/brief/agent/desk', {
      version: '1.0.0',
      reason: 'x',
    });
    await eventually(async () => {
      const known = await request(other, 'GET', '/v1/tools/brief');
      expect(known.status).toBe(200);
    });
    await postgres.sql(`UPDATE tool_assignments SET content_hash = '${'0'.repeat(64)}' WHERE tool = 'brief'`);
    await postgres.sql('UPDATE tool_assignments_generation SET generation = generation + 1');
    const gone = async () => call({ agent_id: 'desk' }, 'brief', other);
    await eventually(async () =>
      expect(await gone()).toMatchObject({
        ok: false,
        error: { type: 'NOT_FOUND', reason: 'VERSION_GONE', details: { assigned_to: 'agent' } },
        meta: { version_source: 'agent' },
      }),
    );
    expect(body.version).toBe('1.0.0');
    await request(other, 'POST', '/v1/admin/tools/brief/disable');
    expect(await gone()).toMatchObject({ ok: false, error: { reason: 'TOOL_DISABLED' } });
    // It may be assigned meanwhile: for when the tool is switched on again.
    const meanwhile = { version: '1.0.0', reason: 'while it is off' };
    const put = await request(other, 'PUT', '/v1/assignments/brief/agent/desk', meanwhile);
    expect(put.status).toBe(200);
    await request(other, 'POST', '/v1/admin/tools/brief/enable');
    expect(await gone()).toMatchObject({ ok: true, data: 1 });
    await request(target, 'DELETE', '/v1/assignments/brief/agent/desk');
  });

  it('is told of by policy explain, with why', async () => {
    await assign('user/ann', '2.0.0');
    const asked = (context: object) =>
      request(target, 'POST', '/v1/policy/explain', { tool: 'greet', arguments: {}, context });
    expect((await asked({ user_id: 'ann' })).body).toMatchObject({
      decision: 'none',
      version: { tool: 'greet', version: '2.0.0', source: 'user' },
    });
    expect((await asked({})).body).toMatchObject({ version: { version: '3.0.0', source: 'current' } });
    await without('user/ann');
  });
});

describe('what cannot be assigned', () => {
  it.each<[number, string, string, object]>([
    [404, 'TOOL_NOT_FOUND', 'nobody/agent/desk', { version: '1.0.0', reason: 'x' }],
    [404, 'VERSION_GONE', 'greet/agent/desk', { version: '9.9.9', reason: 'x' }],
    [404, 'VERSION_GONE', 'greet/agent/desk', { version: 'f'.repeat(64), reason: 'x' }],
    [400, 'MALFORMED_CALL', 'greet/group/desk', { version: '1.0.0', reason: 'x' }],
    [400, 'MALFORMED_CALL', 'greet/agent/desk', { version: '1.0.0' }],
    [400, 'MALFORMED_CALL', 'greet/agent/a%0Ab', { version: '1.0.0', reason: 'x' }],
    [403, 'TENANT_MISMATCH', 'greet/tenant/wayne?tenant=acme', { version: '1.0.0', reason: 'x' }],
  ])('is %s %s: %s', async (status, reason, path, body) => {
    const answer = await request<{ reason: string }>(target, 'PUT', `/v1/assignments/${path}`, body);
    expect([answer.status, answer.body.reason]).toEqual([status, reason]);
  });

  it('is what was changed since it was looked at', async () => {
    const path = '/v1/assignments/greet/agent/seen';
    const body = { version: '1.0.0', reason: 'x' };
    const sent = (headers: Record<string, string>) =>
      fetch(`${target.url}${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const made = await sent({ 'if-none-match': '*' });
    expect(made.status).toBe(200);
    expect((await sent({ 'if-none-match': '*' })).status).toBe(412);
    const etag = made.headers.get('etag') ?? '';
    expect((await sent({ 'if-match': etag })).status).toBe(200);
    expect((await sent({ 'if-match': etag })).status).toBe(412);
    await without('agent/seen');
    expect((await unassign('agent/seen')).status).toBe(404);
  });
});

it('ute assigns, lists and takes away', async () => {
  const ute = async (...args: readonly string[]) => {
    let [out, err] = ['', ''];
    const code = await run(['assignments', ...args], {
      env: { UTE_URL: target.url, UTE_API_KEY: target.key },
      stdout: (text) => (out += text),
      stderr: (text) => (err += text),
      readStdin: async () => '',
      fetch,
      cwd: dir,
    });
    return { code, out, err };
  };
  const made = await ute('set', 'greet', '1.0.0', '--agent', 'clerk', '--reason', 'T-812');
  expect([made.code, made.err]).toEqual([0, '']);
  expect(await ran({ agent_id: 'clerk' })).toEqual([1, '1.0.0', 'agent']);
  const listed = await ute('list', '--tool', 'greet');
  expect(listed.out).toMatch(/greet +agent +clerk +1\.0\.0 +[0-9a-f]{12} .*T-812/);
  expect((await ute('delete', 'greet', '--agent', 'clerk')).code).toBe(0);
  expect(await ran({ agent_id: 'clerk' })).toEqual([3, '3.0.0', undefined]);
  const unclear = await ute('set', 'greet', '1.0.0', '--reason', 'x');
  expect([unclear.code, unclear.err]).toEqual([2, expect.stringContaining('--tenant alone')]);
});
