// Who approves, how many have to, and what they are shown: through the running gateway and by `ute approvals`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../src/cli/run.ts';
import { ask, decide, redeem, runsIn } from '../helpers/approval-kit.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const HANDLER = `import { appendFileSync } from 'node:fs';
export const execute = ({ note }) => appendFileSync(note, 'ran\\n');
`;
const noted = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] };
const needs = (more: object) => ({ extensions: { approval: { mode: 'always', ...more } } });

let dir: string;
let gateway: RunningGateway;
let doors: readonly Door[];
let agent: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'act.js'), HANDLER);
  writeFileSync(
    join(dir, 'tools.yaml'),
    stringify({
      connections: {
        bank: {
          type: 'http',
          base_url: 'https://bank.example',
          auth: { type: 'bearer', token: 'very-secret-token' },
        },
      },
      tools: [
        act('one'),
        act('two', { quorum: 2 }),
        act('of_finance', { groups: ['finance'] }),
        act('two_of_finance', { quorum: 2, groups: ['finance'] }),
        {
          name: 'pay',
          description: 'Pays.',
          tool_type: 'http',
          input_schema: {
            type: 'object',
            properties: { to: { type: 'string' }, pin: { type: 'string', 'x-ute-sensitive': true } },
            required: ['to', 'pin'],
          },
          implementation_config: {
            connection: 'bank',
            method: 'POST',
            path: '/accounts/{to}/pay',
            body: 'remaining',
          },
          ...needs({}),
        },
      ],
    }),
  );
  const person = (user: string, roles: readonly string[]) => ({ tenant: 'acme', roles, user });
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    roles: { approver: ['approvals:decide'], accountant: ['approvals:decide'] },
    settings: {
      approvals: { require_reason: true, groups: { finance: { roles: ['accountant'], users: ['CFO'] } } },
    },
    more: {
      ann: person('ann', ['approver']),
      'ann again': person('Ann ', ['approver']),
      bob: person('bob', ['approver']),
      acc: person('acc', ['accountant']),
      cfo: person('cfo', ['approver']),
      'cfo calls': person('cfo', ['agent']),
      'bob calls': person('bob', ['agent']),
      nobody: { tenant: 'acme', roles: ['accountant'] },
      stranger: { tenant: 'umbrella', roles: ['accountant'], user: 'eve' },
    },
  });
  doors = [restDoor(gateway), grpcDoor(gateway)];
  agent = { url: gateway.url, key: gateway.keys.agent.text };
});

afterAll(async () => {
  for (const door of doors) door.close();
  await gateway?.stop();
  removeDir(dir);
});

function act(name: string, more: object = {}) {
  return {
    name,
    description: 'Acts.',
    tool_type: 'javascript',
    input_schema: noted,
    implementation_config: { handler: './act.js', trusted: true },
    ...needs(more),
  };
}

let notes = 0;
const newNote = () => join(dir, `note-${(notes += 1)}`);
const said = async (who: string, asked: { id: string; token: string }, how?: 'reject') => {
  const { status, body } = await decide(gateway.key(who), asked, how);
  return status === 200 ? body.status : body.reason;
};

describe('a call that two people have to approve', () => {
  it('runs after the second of them, however many keys the first has', async () => {
    const note = newNote();
    const asked = await ask(agent, 'two', { note });
    expect(await said('ann', asked)).toBe('pending');
    expect(await said('ann', asked)).toBe('pending');
    expect(await said('ann again', asked)).toBe('pending');
    expect(await said('nobody', asked)).toBe('APPROVER_UNKNOWN');
    const [rest] = doors;
    expect((await redeem(rest!, agent, 'two', { note }, asked)).reason).toBe('APPROVAL_PENDING');
    expect(await said('bob', asked)).toBe('approved');
    expect((await redeem(rest!, agent, 'two', { note }, asked)).ok).toBe(true);
    expect(runsIn(note)).toEqual(['ran']);
  });

  it('is ended by one rejection, which has to say why, and the caller is told', async () => {
    const note = newNote();
    const asked = await ask(agent, 'two', { note });
    expect(await said('ann', asked)).toBe('pending');
    expect(await said('bob', asked, 'reject')).toBe('REASON_MISSING');
    const path = `/v1/approvals/${asked.id}/decision`;
    const rejected = await request(gateway.key('bob'), 'POST', path, {
      decision: 'reject',
      comment: 'not today',
    });
    expect(rejected.status).toBe(200);
    expect(await said('cfo', asked)).toBe('APPROVAL_CONFLICT');
    for (const door of doors) {
      const told = await redeem(door, agent, 'two', { note }, asked);
      expect(told).toMatchObject({ ok: false, reason: 'APPROVAL_REJECTED' });
    }
    const { details } = await redeem(doors[0]!, agent, 'two', { note }, asked);
    expect(details).toEqual({ comment: 'not today' });
    expect(runsIn(note)).toEqual([]);
  });

  it('has each step in the audit trail', async () => {
    const asked = await ask(agent, 'two', { note: newNote() });
    await said('ann', asked);
    await said('bob', asked);
    const { body } = await request<{ records: { outcome: string; notes: Record<string, unknown> }[] }>(
      { url: gateway.url, key: gateway.keys.admin.text },
      'GET',
      '/v1/audit?kind=approval',
    );
    const own = body.records.filter(({ notes: told }) => told['approval_id'] === asked.id);
    expect(own.map(({ outcome, notes: told }) => [outcome, told['approvals'], told['needed']])).toEqual([
      ['approved', 2, 2],
      ['pending', 1, 2],
    ]);
  });
});

describe('a call for a group of approvers', () => {
  it('is approved by its members alone, by role or by name', async () => {
    const asked = await ask(agent, 'of_finance', { note: newNote() });
    expect(await said('ann', asked)).toBe('APPROVER_NOT_IN_GROUP');
    expect(await said('stranger', asked)).toBe('APPROVAL_NOT_FOUND');
    expect(await said('acc', asked)).toBe('approved');
    expect(await said('cfo', await ask(agent, 'of_finance', { note: newNote() }))).toBe('approved');
  });

  it('counts members alone', async () => {
    const asked = await ask(agent, 'two_of_finance', { note: newNote() });
    expect(await said('acc', asked)).toBe('pending');
    expect(await said('bob', asked)).toBe('APPROVER_NOT_IN_GROUP');
    expect(await said('cfo', asked)).toBe('approved');
  });
});

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const handOn = (who: string, body: object) =>
  request<{ id: string; reason: string; approver_groups: string[] }>(
    gateway.key(who),
    'POST',
    '/v1/approvals/delegations',
    body,
  );
const takeBack = async (who: string, id: string) =>
  (await request(gateway.key(who), 'DELETE', `/v1/approvals/delegations/${id}`)).status;

it('an id that no approval can have is one that there is not', async () => {
  for (const method of ['GET', 'POST']) {
    const [path, body] = method === 'GET' ? ['', undefined] : ['/decision', { decision: 'approve' }];
    const answer = await request<{ reason: string }>(
      gateway.key('ann'),
      method,
      `/v1/approvals/%00${path}`,
      body,
    );
    expect(answer).toMatchObject({ status: 404, body: { reason: 'APPROVAL_NOT_FOUND' } });
  }
});

describe('a vote that was handed on', () => {
  it('is not to a group that is nowhere: the answer says which', async () => {
    const asked = { to: 'bob', until: inHours(1), groups: ['finance', 'finanse'] };
    expect(await handOn('cfo', asked)).toMatchObject({
      status: 400,
      body: {
        reason: 'MALFORMED_CALL',
        violations: [{ pointer: '/groups', message: expect.stringContaining('"finanse"') as string }],
      },
    });
  });

  it('is given by the other, counts both once, and says for whom it was', async () => {
    const handed = await handOn('cfo', { to: 'Bob', until: inHours(1) });
    expect(handed).toMatchObject({ status: 201, body: { approver_groups: ['finance'] } });
    const asked = await ask(agent, 'two_of_finance', { note: newNote() });
    expect(await said('bob', asked)).toBe('pending');
    expect(await said('cfo', asked)).toBe('pending');
    expect(await said('bob', asked)).toBe('pending');
    const path = `/v1/approvals/${asked.id}`;
    const { body } = await request<{ votes: object[] }>(gateway.key('ann'), 'GET', path);
    expect(body.votes).toMatchObject([{ user: 'bob', for: 'cfo' }]);
    expect(await said('ann', asked)).toBe('APPROVER_NOT_IN_GROUP');
    expect(await said('acc', asked)).toBe('approved');
    expect(await takeBack('bob', handed.body.id)).toBe(404);
    expect(await takeBack('cfo', handed.body.id)).toBe(204);
    expect(await said('bob', await ask(agent, 'of_finance', { note: newNote() }))).toBe(
      'APPROVER_NOT_IN_GROUP',
    );
    const admin = { url: gateway.url, key: gateway.keys.admin.text };
    const records = await request<{ records: { notes: object }[] }>(admin, 'GET', '/v1/audit?page_size=100');
    const notes = JSON.stringify(records.body.records.map(({ notes: told }) => told));
    expect(notes).toMatch(/"action":"approvals.delegate"/);
    expect(notes).toMatch(/"action":"approvals.revoke_delegation"/);
    expect(notes).toMatch(/"decided_for_user":"cfo"/);
  });

  it('is good while one of the keys of the member may decide, whichever, and no longer', async () => {
    const admin = { url: gateway.url, key: gateway.keys.admin.text };
    const newKey = async (roles: readonly string[]) => {
      const made = { name: 'vera', tenant: 'acme', user: 'vera', roles };
      const { body } = await request<{ id: string; key: string }>(admin, 'POST', '/v1/keys', made);
      return body;
    };
    const [first, second] = [await newKey(['accountant']), await newKey(['accountant'])];
    const vera = { url: gateway.url, key: first.key };
    const wish = { to: 'bob', until: inHours(1) };
    const handed = await request(vera, 'POST', '/v1/approvals/delegations', wish);
    expect(handed).toMatchObject({ status: 201, body: { from_user: 'vera' } });
    const revoke = ({ id }: { id: string }) => request(admin, 'DELETE', `/v1/keys/${id}`);
    const bobSays = async () => said('bob', await ask(agent, 'of_finance', { note: newNote() }));
    expect(await bobSays()).toBe('approved');
    await revoke(first);
    expect(await bobSays()).toBe('approved');
    await revoke(second);
    expect(await bobSays()).toBe('APPROVER_NOT_IN_GROUP');
    // Neither a key that may not decide, nor one of another role, brings it back.
    await newKey(['agent']);
    await newKey(['approver']);
    expect(await bobSays()).toBe('APPROVER_NOT_IN_GROUP');
    const last = await newKey(['accountant']);
    expect(await bobSays()).toBe('approved');
    await revoke(last);
  });

  it('after the member has voted, is not counted again', async () => {
    const { body } = await handOn('cfo', { to: 'bob', until: inHours(1) });
    const asked = await ask(agent, 'two_of_finance', { note: newNote() });
    expect(await said('cfo', asked)).toBe('pending');
    expect(await said('bob', asked)).toBe('pending');
    expect(await said('acc', asked)).toBe('approved');
    await takeBack('cfo', body.id);
  });

  it('of two members is that of the one who has not voted', async () => {
    const handed = [];
    for (const who of ['acc', 'cfo'])
      handed.push([who, await handOn(who, { to: 'bob', until: inHours(1) })] as const);
    const asked = await ask(agent, 'two_of_finance', { note: newNote() });
    expect(await said('cfo', asked)).toBe('pending');
    expect(await said('bob', asked)).toBe('approved');
    for (const [who, { body }] of handed) expect(await takeBack(who, body.id)).toBe(204);
  });

  it('approves neither what the other nor what the member asks for', async () => {
    const { body } = await handOn('cfo', { to: 'bob', until: inHours(1) });
    const note = newNote();
    expect(await said('bob', await ask(gateway.key('bob calls'), 'of_finance', { note }))).toBe(
      'SELF_APPROVAL',
    );
    expect(await said('bob', await ask(gateway.key('cfo calls'), 'of_finance', { note }))).toBe(
      'APPROVER_NOT_IN_GROUP',
    );
    await takeBack('cfo', body.id);
  });

  it('is not handed on a second time, and not by whoever has none', async () => {
    const { body } = await handOn('cfo', { to: 'bob', until: inHours(1) });
    for (const groups of [undefined, ['finance']])
      expect(await handOn('bob', { to: 'ann', until: inHours(1), groups })).toMatchObject({
        status: 403,
        body: { reason: 'APPROVER_NOT_IN_GROUP' },
      });
    expect((await handOn('nobody', { to: 'ann', until: inHours(1) })).body.reason).toBe('APPROVER_UNKNOWN');
    await takeBack('cfo', body.id);
  });

  it('counts from its begin on, and within three months', async () => {
    const later = await handOn('cfo', { to: 'bob', from: inHours(1), until: inHours(2) });
    expect(later.status).toBe(201);
    expect(await said('bob', await ask(agent, 'of_finance', { note: newNote() }))).toBe(
      'APPROVER_NOT_IN_GROUP',
    );
    for (const wrong of [
      { to: 'bob', until: inHours(-1) },
      { to: 'bob', until: inHours(24 * 93) },
      { to: 'bob', from: inHours(3), until: inHours(2) },
      { to: 'CFO', until: inHours(1) },
      { to: ' \u200b', until: inHours(1) },
      { to: 'bob\r\ncfo', until: inHours(1) },
    ])
      expect((await handOn('cfo', wrong)).body.reason).toBe('MALFORMED_CALL');
    await takeBack('cfo', later.body.id);
  });
});

it('of fifty uses of one approval at once, over both doors, one runs', async () => {
  const note = newNote();
  const asked = await ask(agent, 'one', { note });
  expect(await said('ann', asked)).toBe('approved');
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => redeem(doors[index % 2]!, agent, 'one', { note }, asked)),
  );
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect(new Set(answers.filter(({ ok }) => !ok).map(({ reason }) => reason))).toEqual(
    new Set(['APPROVAL_USED']),
  );
  expect(runsIn(note)).toEqual(['ran']);
});

describe('what approvers are shown', () => {
  it('is the request as it would be sent, without secrets and sensitive arguments, and whether it has changed', async () => {
    const { id } = await ask(agent, 'pay', { to: 'ann', pin: '4711' });
    const { body } = await request<{ would: object; tool_changed: boolean }>(
      gateway.key('ann'),
      'GET',
      `/v1/approvals/${id}`,
    );
    expect(body.tool_changed).toBe(false);
    const text = JSON.stringify(body);
    expect(text).toContain('bank.example');
    expect(body.would).toMatchObject({ method: 'POST' });
    expect(text).not.toMatch(/4711|very-secret-token/);
  });

  it('says that the tool was changed since', async () => {
    const file = join(dir, 'act.js');
    const before = readFileSync(file, 'utf8');
    const { id } = await ask(agent, 'one', { note: newNote() });
    writeFileSync(file, `${before}// another\n`);
    const { body } = await request<{ tool_changed: boolean }>(
      gateway.key('ann'),
      'GET',
      `/v1/approvals/${id}`,
    );
    expect(body.tool_changed).toBe(true);
    writeFileSync(file, before);
  });
});

it('ute approvals lists, shows, approves and rejects', async () => {
  const ute = async (who: string, ...argv: readonly string[]) => {
    const out: string[] = [];
    const { url, key } = gateway.key(who);
    const code = await run(['approvals', ...argv, '--url', url, '--key', key], {
      stdout: (text) => out.push(text),
      stderr: (text) => out.push(text),
      readStdin: async () => '',
      fetch,
      env: {},
      cwd: dir,
    });
    return { code, text: out.join('') };
  };
  const note = newNote();
  const { id } = await ask(agent, 'two', { note });
  expect((await ute('ann', 'list', '--status', 'pending')).text).toMatch(
    new RegExp(`${id} +two +\\S+ +pending +0 of 2`),
  );
  const handed = await ute('cfo', 'delegate', 'bob', '--until', inHours(1), '--groups', 'finance', '--json');
  const { id: delegation } = JSON.parse(handed.text) as { id: string };
  expect((await ute('ann', 'delegations')).text).toMatch(new RegExp(`${delegation} +cfo +bob +finance`));
  expect(await ute('cfo', 'revoke-delegation', delegation)).toEqual({ code: 0, text: 'revoked\n' });
  expect((await ute('ann', 'show', id)).text).toContain(JSON.stringify(note));
  expect(await ute('ann', 'approve', id)).toEqual({ code: 0, text: 'pending (1 of 2)\n' });
  const waits = await sendTo<{ meta: { approval_id: string } }>(
    agent,
    'POST',
    '/v1/tools/two/execute',
    { arguments: { note: newNote() } },
    { prefer: 'respond-async' },
  );
  await ute('ann', 'approve', waits.body.meta.approval_id);
  expect((await ute('bob', 'approve', waits.body.meta.approval_id)).text).toBe(
    'approved: the call, which waited for this, runs now\n',
  );
  expect((await ute('bob', 'reject', id)).code).toBe(3);
  expect(await ute('bob', 'reject', id, '--comment', 'no')).toEqual({ code: 0, text: 'rejected\n' });
  expect(existsSync(note)).toBe(false);
});
