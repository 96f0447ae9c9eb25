// Agents and the configuration of their tools, through running gateways that share one database: the seed's examples by row (C2–C4).
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { grpcDoor, restDoor, type Decision, type Door } from '../helpers/doors.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

interface Problem {
  readonly reason: string;
  readonly violations?: readonly { readonly pointer: string; readonly message: string }[];
}
interface Tool {
  readonly revision: number;
  readonly config: Record<string, unknown>;
  readonly sensitive_fields: readonly string[];
}

const SOON = { timeout: 30_000, interval: 50 };
const TOKEN = 'ya29.an-access-token';
const CALENDAR = { sensitive_config: { access_token: TOKEN } };
const EVENTS = 'Google_calendar.list_events';
const WEATHER = {
  name: 'Weather',
  description: 'Says the weather.',
  tool_type: 'javascript',
  implementation_config: { handler: './weather.js', trusted: true },
};
const WHEN = { time_min: '2025-12-30T09:00:00Z' };

let dir: string;
let upstream: Server;
let seen: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[] =
  [];
let stores: Stores;
let one: RunningGateway;
let two: RunningGateway;
let doors: readonly Door[];
let elsewhere: Door;
let boss: RestTarget;
let other: RestTarget;
let serial = 0;

beforeAll(async () => {
  upstream = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()));
    asked.on('end', () => {
      seen.push({ url: asked.url ?? '', headers: asked.headers, body });
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ items: [], sent: { headers: asked.headers, body } }));
    });
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  process.env['TEST_AGENTS_PORT'] = String((upstream.address() as AddressInfo).port);
  stores = await sharedStores();
  dir = tempDir();
  writeFileSync(join(dir, 'weather.js'), 'export const execute = () => "sunny";\n');
  writeTools([WEATHER]);
  const secrets = { keys: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
  const options = {
    tools: ['test/fixtures/agents/tools.yaml', join(dir, 'weather.json')],
    settings: { ...stores.settings, secrets },
    more: {
      boss: { tenant: 'acme', roles: ['admin'] },
      other: { tenant: 'umbrella', roles: ['admin'] },
      night: { tenant: 'acme', roles: ['admin'], agents: ['night-desk'] },
    },
  };
  one = await startGateway(options);
  two = await startGateway(options);
  doors = [restDoor(one), grpcDoor(one)];
  elsewhere = restDoor(two);
  [boss, other] = [one.key('boss'), one.key('other')];
});

afterAll(async () => {
  for (const door of [...(doors ?? []), elsewhere]) door?.close();
  await Promise.all([one?.stop(), two?.stop()]);
  await stores?.stop();
  upstream?.close();
  removeDir(dir);
  delete process.env['TEST_AGENTS_PORT'];
});

beforeEach(() => void (seen = []));

function writeTools(tools: readonly object[]): void {
  writeFileSync(join(dir, 'weather.json'), JSON.stringify({ tools }));
}

async function declared(by = boss): Promise<string> {
  const name = `agent-${(serial += 1)}`;
  const made = await request(by, 'POST', '/v1/agents', { name });
  expect(made.status).toBe(201);
  return name;
}

const pathOf = (agent: string, tool: string) => `/v1/agents/${agent}/tools/${tool}`;

async function configured(agent: string, tool: string, body: object): Promise<Tool> {
  const put = await request<Tool>(boss, 'PUT', pathOf(agent, tool), body);
  expect(put).toMatchObject({ status: 200 });
  return put.body;
}

/** By both doors, which have to agree. */
async function called(
  tool: string,
  agent: string | undefined,
  args: object = {},
  key = boss.key,
): Promise<Decision> {
  const context: Record<string, string> = agent === undefined ? {} : { agent_id: agent };
  const call = { tool, argumentsJson: JSON.stringify(args), context, key };
  const [rest, grpc] = await Promise.all(doors.map((door) => door.call(call)));
  expect([grpc?.ok, grpc?.type, grpc?.reason, grpc?.data]).toEqual([
    rest?.ok,
    rest?.type,
    rest?.reason,
    rest?.data,
  ]);
  if (rest === undefined) throw new Error('there is no door');
  return rest;
}

const reasonOf = async (...asked: Parameters<typeof called>) => (await called(...asked)).reason;

describe('C2: configuration per agent and tool, held to config_schema', () => {
  it('what is set and what it leaves to defaults reaches the tool, of each agent its own', async () => {
    const [a, b] = [await declared(), await declared()];
    await configured(a, 'Email', {
      config: { from_email: 'a@x.example', smtp_server: 'mx' },
      sensitive_config: { api_key: 'k-a-1234' },
    });
    await configured(b, 'Email', {
      config: { from_email: 'b@x.example', smtp_port: 25 },
      sensitive_config: { api_key: 'k-b-1234' },
    });
    const mail = { to: 'ann@x.example', subject: 's', body: 'b' };
    const sent = async (agent: string) => (await called('Email.send_email', agent, mail)).data;
    expect(await sent(a)).toMatchObject({ from: 'a@x.example', server: 'mx', port: 587, has_key: true });
    expect(await sent(b)).toMatchObject({ from: 'b@x.example', port: 25, has_key: true });
  });

  it('calendar_id and default_event_duration of the agent are where the seed has them', async () => {
    const agent = await declared();
    const config = { calendar_id: 'team/a@b', default_event_duration: 45 };
    // A path segment is one: no configuration becomes another path.
    await configured(agent, 'Google_calendar', { config: { ...config, calendar_id: '..' }, ...CALENDAR });
    expect((await called(EVENTS, agent, WHEN)).reason).toBe('UNSAFE_ARGUMENT');
    await configured(agent, 'Google_calendar', { config });
    await called('Google_calendar.create_event', agent, { title: 'x' });
    expect(seen[0]).toMatchObject({
      url: '/calendars/team%2Fa%40b/events',
      body: '{"summary":"x","minutes":45}',
    });
  });

  it.each([
    ['an unknown field', { config: { calender_id: 'x' }, ...CALENDAR }, '/config/calender_id'],
    [
      'a wrong type',
      { config: { default_event_duration: 'long' }, ...CALENDAR },
      '/config/default_event_duration',
    ],
    ['a secret among the rest', { config: { access_token: 'x' } }, '/config/access_token'],
    ['the rest among secrets', { sensitive_config: { calendar_id: 'x' } }, '/sensitive_config/calendar_id'],
    ['no credential', { config: {} }, '/sensitive_config/access_token'],
    [
      'a credential of the wrong type',
      { sensitive_config: { access_token: 7 } },
      '/sensitive_config/access_token',
    ],
    ['too much', { sensitive_config: { access_token: 'x'.repeat(9_000) } }, '/sensitive_config'],
  ])('%s is refused with its place', async (_what, body, pointer) => {
    const agent = await declared();
    const { status, body: problem } = await request<Problem>(
      boss,
      'PUT',
      pathOf(agent, 'Google_calendar'),
      body,
    );
    expect([status, problem.reason]).toEqual([400, 'CONFIG_MISMATCH']);
    expect(problem.violations?.map((each) => each.pointer)).toContain(pointer);
  });

  it('secrets go in, and no answer has them: only which are set', async () => {
    const agent = await declared();
    const put = await sendTo<Tool>(boss, 'PUT', pathOf(agent, 'Google_calendar'), CALENDAR);
    expect(put.body.sensitive_fields).toEqual(['access_token']);
    const looks = ['', '/Google_calendar', '/Google_calendar/config-form'].map(
      (end) => `/v1/agents/${agent}/tools${end}`,
    );
    const texts = await Promise.all(
      [...looks, '/v1/audit?page_size=500'].map(async (path) => (await request(boss, 'GET', path)).body),
    );
    expect(JSON.stringify([put.body, ...texts])).not.toContain(TOKEN);
  });

  it('a form shows every field with how to show it, the values, and of secrets whether they are set', async () => {
    const agent = await declared();
    const form = async () =>
      (await request(boss, 'GET', `${pathOf(agent, 'Google_calendar')}/config-form`)).body;
    expect(await form()).toMatchObject({
      schema: { type: 'object', properties: { calendar_id: { title: 'Calendar ID' } } },
      ui_schema: { calendar_id: { 'ui:widget': 'text' }, access_token: { 'ui:widget': 'password' } },
      values: { calendar_id: 'primary', default_event_duration: 30 },
      sensitive_fields: ['access_token', 'refresh_token'],
      sensitive_fields_set: [],
      auth: { type: 'oauth2', token_url: 'https://oauth2.googleapis.com/token' },
    });
    await configured(agent, 'Google_calendar', { config: { calendar_id: 'c2' }, ...CALENDAR });
    expect(await form()).toMatchObject({
      values: { calendar_id: 'c2' },
      sensitive_fields_set: ['access_token'],
    });
  });

  it('a change names what it was made on, and one field is changed without the others', async () => {
    const agent = await declared();
    const path = pathOf(agent, 'Google_calendar');
    const first = await sendTo<Tool>(boss, 'PUT', path, { config: { calendar_id: 'a' }, ...CALENDAR });
    const stale = { 'if-match': first.headers.get('etag') ?? '' };
    const second = await sendTo<Tool>(boss, 'PATCH', path, { config: { default_event_duration: 60 } }, stale);
    expect(second.body).toMatchObject({
      config: { calendar_id: 'a', default_event_duration: 60 },
      sensitive_fields: ['access_token'],
    });
    const lost = await sendTo<Problem>(boss, 'PATCH', path, { is_enabled: false }, stale);
    expect([lost.status, lost.body.reason]).toEqual([412, 'VERSION_CONFLICT']);
    expect((await sendTo(boss, 'PUT', path, {}, { 'if-none-match': '*' })).status).toBe(412);
    const gone = await request<Problem>(boss, 'PATCH', path, { sensitive_config: { access_token: null } });
    expect(gone.body.reason).toBe('CONFIG_MISMATCH');
    const off = await request<Tool>(boss, 'PATCH', path, {
      is_enabled: false,
      sensitive_config: { access_token: null },
    });
    expect(off.body.sensitive_fields).toEqual([]);
  });
});

describe('C3: callable only when configured and enabled', () => {
  it('each case has an error of its own', async () => {
    const agent = await declared();
    expect(await reasonOf(EVENTS, agent, WHEN)).toBe('TOOL_NOT_CONFIGURED');
    await configured(agent, 'Google_calendar', CALENDAR);
    expect(await reasonOf(EVENTS, agent, WHEN)).toBeUndefined();
    await request(boss, 'PATCH', pathOf(agent, 'Google_calendar'), { is_enabled: false });
    const disabled = await called(EVENTS, agent, WHEN);
    expect(disabled).toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'TOOL_DISABLED_FOR_AGENT',
      message: 'This tool is currently disabled for this agent.',
    });
    await request(boss, 'DELETE', pathOf(agent, 'Google_calendar'));
    expect(await reasonOf(EVENTS, agent, WHEN)).toBe('TOOL_NOT_CONFIGURED');
    expect(seen).toHaveLength(2);
    expect(await reasonOf('no_such_tool', agent)).toBe('TOOL_NOT_FOUND');
    expect(await reasonOf('Google_calendar.get_availability', agent)).toBe('TOOL_NOT_FOUND');
    const missing = await request<Problem>(boss, 'PUT', pathOf(agent, 'no_such_tool'), {});
    expect([missing.status, missing.body.reason]).toEqual([404, 'TOOL_NOT_FOUND']);
  });

  it('a tool that is configured, and whose implementation is gone, is told as that', async () => {
    const agent = await declared();
    await configured(agent, 'Weather', {});
    expect((await called('Weather', agent)).data).toBe('sunny');
    writeTools([]);
    await request({ url: one.url, key: one.keys.admin.text }, 'POST', '/v1/admin/reload');
    await expect.poll(() => reasonOf('Weather', agent), SOON).toBe('TOOL_NOT_IMPLEMENTED');
    expect(await called('Weather', agent)).toMatchObject({ type: 'NOT_FOUND' });
    expect(await reasonOf('Weather', 'nobody-declared')).toBe('TOOL_NOT_FOUND');
  });

  it('a tool that needs nothing is as it was for agents that nobody declared, and not for one that is', async () => {
    expect((await called('plain', undefined, { a: 1 })).data).toEqual({
      args: { a: 1 },
      config: {},
      secrets: [],
    });
    expect((await called('plain', 'nobody-declared')).ok).toBe(true);
    const agent = await declared();
    expect(await reasonOf('plain', agent)).toBe('TOOL_NOT_CONFIGURED');
    await configured(agent, 'plain', {});
    expect((await called('plain', agent)).ok).toBe(true);
    await request(boss, 'PATCH', pathOf(agent, 'plain'), { is_enabled: false });
    expect(await reasonOf('plain', agent)).toBe('TOOL_DISABLED_FOR_AGENT');
  });

  it('what needs to be configured is refused without an agent, and what has defaults for all of it is not', async () => {
    for (const agent of [undefined, 'nobody-declared'])
      expect(await reasonOf(EVENTS, agent, WHEN)).toBe('TOOL_NOT_CONFIGURED');
    expect((await called('leaky_js', undefined)).data).toMatchObject({ greeting: 'hello', length: 0 });
  });

  it("another tenant's agent of the same name is another agent", async () => {
    const agent = await declared();
    await configured(agent, 'Google_calendar', CALENDAR);
    expect(await reasonOf(EVENTS, agent, WHEN, other.key)).toBe('TOOL_NOT_CONFIGURED');
    await request(other, 'POST', '/v1/agents', { name: agent });
    await request(other, 'PUT', pathOf(agent, 'plain'), { is_enabled: false });
    expect(await reasonOf('plain', agent, {}, other.key)).toBe('TOOL_DISABLED_FOR_AGENT');
    expect(await reasonOf(EVENTS, agent, WHEN)).toBeUndefined();
    expect(seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('whoever may speak for one agent configures no other, and sees no other', async () => {
    const night = one.key('night');
    const agent = await declared();
    expect((await request<Problem>(night, 'PUT', pathOf(agent, 'plain'), {})).body.reason).toBe(
      'AGENT_MISMATCH',
    );
    expect((await request(night, 'POST', '/v1/agents', { name: 'night-desk' })).status).toBe(201);
    const { body } = await request<{ agents: { name: string }[] }>(night, 'GET', '/v1/agents');
    expect(body.agents.map(({ name }) => name)).toEqual(['night-desk']);
  });

  it('a change is in force at once here, and on another replica without a restart', async () => {
    const agent = await declared();
    await configured(agent, 'plain', {});
    const there = async () =>
      (
        await elsewhere.call({
          tool: 'plain',
          argumentsJson: '{}',
          context: { agent_id: agent },
          key: two.key('boss').key,
        })
      ).reason;
    await expect.poll(there, SOON).toBeUndefined();
    await request(boss, 'PATCH', pathOf(agent, 'plain'), { is_enabled: false });
    expect(await reasonOf('plain', agent)).toBe('TOOL_DISABLED_FOR_AGENT');
    await expect.poll(there, SOON).toBe('TOOL_DISABLED_FOR_AGENT');
    await request(boss, 'DELETE', `/v1/agents/${agent}`);
    expect((await called('plain', agent)).ok).toBe(true);
  });

  it('whoever configures it anew does not switch it on, and nothing at all is no configuration', async () => {
    const agent = await declared();
    await configured(agent, 'plain', { is_enabled: false });
    await configured(agent, 'plain', { config: {} });
    expect(await reasonOf('plain', agent)).toBe('TOOL_DISABLED_FOR_AGENT');
    const empty = await request<Problem>(boss, 'PUT', pathOf(agent, 'plain'));
    expect([empty.status, empty.body.reason]).toEqual([400, 'MALFORMED_CALL']);
  });

  it('changes that come at once are all made', async () => {
    const agent = await declared();
    await configured(agent, 'leaky_js', {});
    const change = (at: number) =>
      request(boss, 'PATCH', pathOf(agent, 'leaky_js'), { config: { greeting: `hello ${at}` } });
    const made = await Promise.all(Array.from({ length: 12 }, (_, at) => change(at)));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it.each(['.', '..', 'a/b', 'a*', ' a', '\u202ea', ''])('no agent is called %j', async (name) => {
    expect((await request(boss, 'POST', '/v1/agents', { name })).status).toBe(400);
  });

  it('lists show an agent what is enabled for it, in every format', async () => {
    const agent = await declared();
    await configured(agent, 'plain', {});
    await configured(agent, 'Google_calendar', CALENDAR);
    await configured(agent, 'Email', { is_enabled: false });
    const named = async (query: string) => {
      const { body } = await request<object>(boss, 'GET', `/v1/tools?agent_id=${agent}${query}`);
      return JSON.stringify(body);
    };
    for (const query of ['', '&format=openai', '&format=mcp', '&format=anthropic']) {
      const text = await named(query);
      expect([text.includes('list_events'), text.includes('plain'), text.includes('send_email')]).toEqual([
        true,
        true,
        false,
      ]);
    }
    await request(boss, 'PATCH', pathOf(agent, 'plain'), { is_enabled: false });
    expect(await named('&format=openai')).not.toContain('plain');
    const refused = await request<Problem>(one.key('night'), 'GET', `/v1/tools?agent_id=${agent}`);
    expect(refused.body.reason).toBe('AGENT_MISMATCH');
  });

  it('every act is in the records, done and refused', async () => {
    const agent = await declared();
    await configured(agent, 'plain', {});
    await request({ url: one.url, key: one.keys.agent.text }, 'DELETE', `/v1/agents/${agent}`);
    const { body } = await request<{ records: { notes: Record<string, string> | null; outcome: string }[] }>(
      boss,
      'GET',
      '/v1/audit?kind=management&page_size=500',
    );
    const acts = body.records.map(({ notes, outcome }) => [notes?.['action'], notes?.['target'], outcome]);
    expect(acts).toContainEqual(['agents.create', agent, 'ok']);
    expect(acts).toContainEqual(['agents.configure', `${agent}/plain`, 'ok']);
    expect(acts).toContainEqual(['agents.delete', agent, 'PERMISSION_DENIED']);
  });
});

describe('C4: credentials of agents', () => {
  it('requires_auth with auth_type and auth_config: no call without the credential, and it is sent with each', async () => {
    const agent = await declared();
    await configured(agent, 'Google_calendar', CALENDAR);
    const { data } = await called(EVENTS, agent, WHEN);
    expect(seen[0]).toMatchObject({
      url: '/calendars/primary/events?timeMin=2025-12-30T09%3A00%3A00Z&maxResults=10',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(JSON.stringify(data)).not.toContain(TOKEN);
    expect(JSON.stringify(data)).toContain('[secret]');
  });

  it('no argument becomes a secret or a part of the configuration', async () => {
    const agent = await declared();
    await configured(agent, 'Google_calendar', CALENDAR);
    const args = { ...WHEN, 'config.calendar_id': 'other', 'sensitive_config.access_token': 'mine' };
    expect(await reasonOf(EVENTS, agent, args)).toBe('SCHEMA_MISMATCH');
    await called('Google_calendar.create_event', agent, { title: '{sensitive_config.access_token}' });
    expect(seen[0]?.body).toContain('{sensitive_config.access_token}');
  });

  it('an approval is good for the configuration that it was asked with', async () => {
    const agent = await declared();
    await configured(agent, 'guarded', { config: { greeting: 'one' } });
    const ask = async (token?: string) => {
      const context = { agent_id: agent, ...(token !== undefined && { confirmation_token: token }) };
      const [door] = doors;
      return (await door?.call({ tool: 'guarded', argumentsJson: '{}', context, key: boss.key })) as Decision;
    };
    const decided = async ({ details }: Decision) => {
      await request(boss, 'POST', `/v1/approvals/${String(details?.['approval_id'])}/decision`, {
        decision: 'approve',
      });
      return String(details?.['confirmation_token']);
    };
    const stale = await decided(await ask());
    await configured(agent, 'guarded', { config: { greeting: 'two' } });
    expect((await ask(stale)).reason).toBe('APPROVAL_STALE');
    const good = await decided(await ask());
    expect((await ask(good)).data).toMatchObject({ greeting: 'two' });
  });
});
