// Declared sessions over running gateways that share Redis and PostgreSQL: whose they are, their turns, tools and end. Rows B4, B7, E3.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { eventually } from '../helpers/eventually.ts';
import { request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway, type WantedKey } from '../helpers/running-gateway.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';

interface Session {
  readonly id: string;
  readonly state: string;
  readonly turn_id: string;
  readonly registry_version: string;
  readonly budgets: readonly { readonly name: string; readonly used: number; readonly limit: number }[];
}

const MORE: Readonly<Record<string, WantedKey>> = {
  backend: { tenant: 'acme', roles: ['agent'] },
  colleague: { tenant: 'acme', roles: ['agent'] },
  clerk: { tenant: 'acme', roles: ['agent'], agents: ['back-office'] },
  stranger: { tenant: 'umbrella', roles: ['admin'] },
  boss: { tenant: 'acme', roles: ['admin'] },
};
const PATIENT = { soft_ms: null, hard_ms: 3_000_000, turn_ms: 3_600_000 };
const OK = { ok: true };

let stores: Stores;
let replicas: readonly RunningGateway[];
let doors: readonly Door[];

beforeAll(async () => {
  stores = await sharedStores();
  const modes = { voice: { retrieval_soft_ms: null }, live_call: PATIENT };
  const budgets = { per_session: { calls: 6 } };
  const settings = {
    ...stores.settings,
    modes,
    budgets,
    loaders: [
      { type: 'yaml-file', paths: [`${process.cwd()}/examples/sessions/tools.yaml`] },
      { type: 'postgres', tool_types: ['composite'] },
    ],
  };
  const start = (more: object = {}) =>
    startGateway({ tools: [], settings: { ...settings, ...more }, more: MORE });
  const first = await start();
  // Keys are each replica's own in gateway.yaml: the others are started with those of the first.
  const keys = await import('node:fs').then(({ readFileSync }) =>
    readFileSync(`${first.dir}/gateway.yaml`, 'utf8'),
  );
  const { auth } = (await import('yaml')).parse(keys) as { auth: unknown };
  replicas = [first, await start({ auth }), await start({ auth })];
  doors = [restDoor(first), grpcDoor(first)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await Promise.all((replicas ?? []).map((each) => each.stop()));
  await stores?.stop();
});

const at = (replica: number, who = 'backend'): RestTarget => ({
  url: replicas[replica]?.url ?? '',
  key: replicas[0]?.key(who).key ?? '',
});

async function declared(draft: object = {}, who = 'backend'): Promise<Session> {
  const answer = await request<Session>(at(0, who), 'POST', '/v1/sessions', {
    user_id: 'ann',
    agent_id: 'desk',
    ...draft,
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function call(target: RestTarget, tool: string, context: object, args: object = {}) {
  const body = { arguments: args, context };
  return (await request<object>(target, 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

const inSession = ({ id }: Session, more: object = {}) => ({ session_id: id, ...more });
const refused = (type: string, reason: string) => ({ ok: false, error: { type, reason } });
const NOT_FOUND = refused('NOT_FOUND', 'SESSION_NOT_FOUND');
const hours = (target: RestTarget, context: object) => call(target, 'get_working_hours', context);

describe('B4/E3 a session', () => {
  it('gives its calls agent, user, mode and turn, at every replica at once', async () => {
    const session = await declared({ mode: 'live_call' });
    for (const replica of [0, 1]) expect(await hours(at(replica), inSession(session))).toMatchObject(OK);
    expect(await hours(at(2), inSession(session))).toMatchObject(refused('BUDGET_EXCEEDED', 'BUDGET_SPENT'));
    const { body } = await request<Session>(at(1), 'GET', `/v1/sessions/${session.id}`);
    expect(body.budgets).toContainEqual({ name: 'turn_calls', limit: 2, used: 2, free_at: null });
    expect(body.budgets).toContainEqual({ name: 'session_calls', limit: 6, used: 2, free_at: null });
  });

  it('has turns of its own: the next one is there at a replica that has not heard of it', async () => {
    const session = await declared({ mode: 'live_call' });
    for (const replica of [2, 2]) expect(await hours(at(replica), inSession(session))).toMatchObject(OK);
    const turn = await request<Session>(at(0), 'POST', `/v1/sessions/${session.id}/turns`);
    expect(turn).toMatchObject({ status: 201, body: { turn_id: '2' } });
    expect(await hours(at(2), inSession(session, { turn_id: '2' }))).toMatchObject(OK);
    expect(await hours(at(2), inSession(session, { turn_id: '3' }))).toMatchObject(
      refused('VALIDATION', 'TURN_UNKNOWN'),
    );
    expect(await hours(at(2), inSession(session, { turn_id: 'x' }))).toMatchObject(
      refused('VALIDATION', 'TURN_UNKNOWN'),
    );
  });

  it('does not let a call of it be made in another mode', async () => {
    const session = await declared({ mode: 'live_call' });
    expect(await hours(at(0), inSession(session, { mode: 'text' }))).toMatchObject(
      refused('MODE_RESTRICTED', 'SESSION_MODE'),
    );
  });

  it('the budget of a session holds over all replicas, whoever asks at the same time', async () => {
    const session = await declared();
    const asked = Array.from({ length: 18 }, (_, index) => hours(at(index % 3), inSession(session)));
    const answers = (await Promise.all(asked)) as readonly { ok: boolean }[];
    expect(answers.filter(({ ok }) => ok)).toHaveLength(6);
  });

  it('is not there for another tenant, agent or user, nor for a key that may not speak for its agent', async () => {
    const session = await declared();
    expect(await hours(at(0, 'stranger'), inSession(session))).toMatchObject(NOT_FOUND);
    expect(await hours(at(0), inSession(session, { user_id: 'bob' }))).toMatchObject(NOT_FOUND);
    expect(await hours(at(0), inSession(session, { agent_id: 'other' }))).toMatchObject(NOT_FOUND);
    expect(await hours(at(0, 'clerk'), inSession(session))).toMatchObject(NOT_FOUND);
    expect(await hours(at(0, 'colleague'), inSession(session))).toMatchObject(OK);
    const nobodys = await request<Session>(at(0), 'POST', '/v1/sessions', {});
    expect(await hours(at(0, 'colleague'), inSession(nobodys.body))).toMatchObject(NOT_FOUND);
    expect(await hours(at(0), inSession(nobodys.body))).toMatchObject(OK);
  });

  it('an id that was never declared is the caller’s own; one that looks declared and is not is refused', async () => {
    expect(await hours(at(0), { session_id: 'call-17' })).toMatchObject(OK);
    const forged = 'ses_01a1fdea-b5f6-7000-b37d-6e9df3cc0263';
    for (let each = 0; each < 3; each += 1)
      expect(await hours(at(0), { session_id: forged })).toMatchObject(NOT_FOUND);
  });

  it('both doors say the same of it', async () => {
    const session = await declared({ mode: 'voice' });
    await request(at(0), 'DELETE', `/v1/sessions/${session.id}`);
    for (const door of doors) {
      const say = (context: Record<string, string>) =>
        door.call({ tool: 'get_working_hours', argumentsJson: '{}', context, key: at(0).key });
      expect(await say({ session_id: session.id })).toMatchObject({
        type: 'SESSION_INACTIVE',
        reason: 'SESSION_ENDED',
      });
    }
  });
});

describe('the end of a session', () => {
  it('is in force here at once and at every other replica within five seconds, and is told', async () => {
    const session = await declared();
    for (const replica of [0, 1, 2]) expect(await hours(at(replica), inSession(session))).toMatchObject(OK);
    const ended = await request<Session>(at(0), 'DELETE', `/v1/sessions/${session.id}`);
    expect(ended.body).toMatchObject({ state: 'ended' });
    const over = refused('SESSION_INACTIVE', 'SESSION_ENDED');
    expect(await hours(at(0), inSession(session))).toMatchObject(over);
    await eventually(async () => {
      for (const replica of [1, 2]) expect(await hours(at(replica), inSession(session))).toMatchObject(over);
    });
    expect((await request(at(1), 'POST', `/v1/sessions/${session.id}/turns`)).body).toMatchObject({
      reason: 'SESSION_ENDED',
    });
  });
});

describe('B7 the tools of a session', () => {
  const steps = (city: string) => ({
    description: 'A composite tool',
    tool_type: 'composite',
    input_schema: { type: 'object', additionalProperties: false },
    implementation_config: {
      steps: [{ id: 'say', tool: 'translate', arguments: { text: city } }],
      result: 'steps.say',
    },
  });
  const put = async (name: string, document: object) => {
    const { status, body } = await request(
      { url: replicas[0]?.url ?? '', key: replicas[0]?.keys.admin.text ?? '' },
      'PUT',
      `/v1/specs/${name}`,
      document,
    );
    expect({ status, body }).toMatchObject({ status: expect.any(Number), body: { in_force: true } });
  };

  it('stay as they were when it was declared, while others get the new ones; a kill switch overrides', async () => {
    await put('say_city', steps('oslo'));
    const session = await declared();
    expect(session.registry_version).toMatch(/^1\.0\.[0-9a-f]{8}$/);
    await put('say_city', steps('rome'));
    await put('late_comer', steps('late'));
    expect(await call(at(0), 'say_city', {})).toMatchObject({ data: { text: 'ROME' } });
    expect(await call(at(0), 'say_city', inSession(session))).toMatchObject({ data: { text: 'OSLO' } });
    expect(await call(at(0), 'late_comer', inSession(session))).toMatchObject(
      refused('NOT_FOUND', 'VERSION_GONE'),
    );
    const admin = { url: replicas[0]?.url ?? '', key: replicas[0]?.keys.admin.text ?? '' };
    await request(admin, 'POST', '/v1/admin/tools/say_city/disable');
    expect(await call(at(0), 'say_city', inSession(session))).toMatchObject(
      refused('UNAVAILABLE', 'TOOL_DISABLED'),
    );
    await request(admin, 'POST', '/v1/admin/tools/say_city/enable');
  });
});

describe('sessions by REST', () => {
  it('lists those of the credential, and all of the tenant’s for who may read them', async () => {
    const session = await declared({ user_id: 'lister' });
    const ids = async (who: string, query = '?user_id=lister') => {
      const { body } = await request<{ sessions: readonly Session[] }>(
        at(1, who),
        'GET',
        `/v1/sessions${query}`,
      );
      return body.sessions.map(({ id }) => id);
    };
    expect(await ids('backend')).toEqual([session.id]);
    expect(await ids('boss')).toEqual([session.id]);
    expect(await ids('colleague')).toEqual([]);
    expect(await ids('stranger')).toEqual([]);
    await request(at(0), 'DELETE', `/v1/sessions/${session.id}`);
    expect(await ids('backend', '?user_id=lister&active=true')).toEqual([]);
  });

  it('tells the calls of one, with the intents that they came back with', async () => {
    const session = await declared();
    await call(at(0), 'take_message', inSession(session), { text: 'hello' });
    await eventually(async () => {
      const { body } = await request<{ calls: readonly { tool: string; notes: unknown }[] }>(
        at(0),
        'GET',
        `/v1/sessions/${session.id}/calls`,
      );
      expect(body.calls).toMatchObject([
        { tool: 'take_message', notes: { intents: ['SET_PENDING_MESSAGE'] } },
      ]);
    });
  });

  it.each([
    ['a mode that is none', { mode: 'telepathy' }, 400],
    ['a field that is none', { mod: 'voice' }, 400],
    ['another tenant', { tenant_id: 'umbrella' }, 403],
    ['no text', { user_id: 7 }, 400],
  ])('refuses %s', async (_name, draft, status) => {
    expect((await request(at(0), 'POST', '/v1/sessions', draft)).status).toBe(status);
  });

  it('a key may not declare one for an agent that it may not speak for', async () => {
    const answer = await request(at(0, 'clerk'), 'POST', '/v1/sessions', { agent_id: 'desk' });
    expect(answer).toMatchObject({ status: 403, body: { reason: 'AGENT_MISMATCH' } });
  });
});
