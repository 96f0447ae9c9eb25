// Attacks on the walls between tenants: every management route, by REST and by gRPC, with the keys of another tenant.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildOpenApi } from '../../src/api/rest/openapi/document.ts';
import { acceptCall, acceptedId, callWhen, eventsOf } from '../helpers/async-client.ts';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { servedRoutes } from '../helpers/nest-routes.ts';
import { callTool, request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const HASH = '0'.repeat(64);
const NEW_TOOL = {
  description: 'x',
  tool_type: 'javascript',
  input_schema: { type: 'object' },
  implementation_config: { handler: './x.js' },
};

/** What reaches every tenant: the role admin of a tenant does not do. */
const OF_THE_PLATFORM: readonly PlatformRoute[] = [
  ['GET /v1/admin/circuits'],
  ['POST /v1/admin/circuits/:upstream/isolate'],
  ['POST /v1/admin/circuits/:upstream/reset'],
  ['GET /v1/admin/definitions'],
  ['POST /v1/admin/definitions/:name/approve', { hash: HASH }],
  ['GET /v1/admin/reload'],
  ['POST /v1/admin/reload'],
  ['GET /v1/admin/replay'],
  ['POST /v1/admin/replay/rewind'],
  ['GET /v1/admin/replicas'],
  ['GET /v1/admin/running-calls'],
  ['GET /v1/admin/secrets'],
  ['POST /v1/admin/secrets/rotate'],
  ['POST /v1/admin/secrets/rewrap'],
  ['GET /v1/admin/status'],
  ['POST /v1/admin/tools/:name/disable'],
  ['POST /v1/admin/tools/:name/enable'],
  ['GET /v1/specs'],
  ['GET /v1/specs/:name'],
  ['PUT /v1/specs/:name', NEW_TOOL],
  ['DELETE /v1/specs/:name'],
  ['GET /v1/specs/:name/diff'],
  ['GET /v1/specs/:name/versions'],
  ['POST /v1/specs/:name/rollback', { content_hash: HASH }],
];
/** What one tenant has: to another it is not there. The id is of the first tenant's. */
const OF_A_TENANT: readonly TenantRoute[] = [
  ['GET /v1/admin/recordings/:name', 'recording'],
  ['POST /v1/admin/recordings/:name/stop', 'recording'],
  ['DELETE /v1/admin/recordings/:name', 'recording'],
  ['POST /v1/admin/webhooks/:id/redeliver', 'webhook'],
  ['DELETE /v1/approvals/delegations/:id', 'delegation'],
  ['GET /v1/approvals/:id', 'approval'],
  ['POST /v1/approvals/:id/decision', 'approval', { decision: 'reject' }],
  ['GET /v1/calls/:id', 'call'],
  ['GET /v1/calls/:id/events', 'call'],
  ['DELETE /v1/calls/:id', 'call'],
  ['POST /v1/calls/:id/retry', 'call', { force: true }],
  ['POST /v1/calls/:id/resolve', 'call', { outcome: 'failed', comment: 'x' }],
  ['GET /v1/schedules/:id', 'schedule'],
  ['PATCH /v1/schedules/:id', 'schedule', { enabled: false }],
  ['DELETE /v1/schedules/:id', 'schedule'],
  ['GET /v1/sessions/:id', 'session'],
  ['GET /v1/sessions/:id/calls', 'session'],
  ['POST /v1/sessions/:id/turns', 'session'],
  ['DELETE /v1/sessions/:id', 'session'],
  ['GET /v1/keys/:id', 'key'],
  ['PATCH /v1/keys/:id', 'key', { expires_at: '2020-01-01T00:00:00Z' }],
  ['POST /v1/keys/:id/rotate', 'key', {}],
  ['DELETE /v1/keys/:id', 'key'],
  ['GET /v1/agents/:agent', 'agent'],
  ['PATCH /v1/agents/:agent', 'agent', { description: 'stolen' }],
  ['GET /v1/agents/:agent/tools', 'agent'],
  ['GET /v1/agents/:agent/tools/:tool', 'agent'],
  ['PUT /v1/agents/:agent/tools/:tool', 'agent', { is_enabled: false }],
  ['PATCH /v1/agents/:agent/tools/:tool', 'agent', { is_enabled: false }],
  ['DELETE /v1/agents/:agent/tools/:tool', 'agent'],
  ['GET /v1/agents/:agent/tools/:tool/config-form', 'agent'],
  ['GET /v1/agents/:agent/oauth', 'agent'],
  ['POST /v1/agents/:agent/oauth/:provider/authorize', 'agent'],
  ['POST /v1/agents/:agent/oauth/:provider/device', 'agent'],
  ['POST /v1/agents/:agent/oauth/:provider/device/:flow', 'agent'],
  ['DELETE /v1/agents/:agent/oauth/:provider', 'agent'],
  ['DELETE /v1/agents/:agent', 'agent'],
  ['GET /v1/assignments/:tool/:kind/:subject', 'assigned'],
  ['DELETE /v1/assignments/:tool/:kind/:subject', 'assigned'],
];
/** Lists of what the caller's tenant has. */
const LISTS: readonly (readonly [route: string, what: Owned])[] = [
  ['GET /v1/admin/recordings', 'recording'],
  ['GET /v1/admin/webhooks/dead', 'webhook'],
  ['GET /v1/agents', 'agent'],
  ['GET /v1/analytics', 'analysed'],
  ['GET /v1/assignments', 'assigned'],
  ['GET /v1/approvals', 'approval'],
  ['GET /v1/approvals/delegations', 'delegation'],
  ['GET /v1/audit?kind=outcome', 'call'],
  ['GET /v1/audit/export', 'call'],
  ['GET /v1/calls', 'call'],
  ['GET /v1/keys', 'key'],
  ['GET /v1/schedules', 'schedule'],
  ['GET /v1/sessions', 'session'],
  ['GET /v1/suggestions', 'suggested'],
];
/** Streams of what happens in the caller's tenant. */
const STREAMS = ['GET /v1/approvals/events'];
/** Made in the caller's own tenant; what they say of another is refused, as the cases below show. */
const MAKING = [
  // Walls between streams: e2e/stream-hostile.test.ts.
  'GET /v1/stream',
  'POST /mcp',
  'POST /mcp/:toolset',
  'POST /v1/admin/recordings',
  'POST /v1/agents',
  'POST /v1/approvals/delegations',
  'POST /v1/audit/erasures',
  'POST /v1/execute',
  'POST /v1/execute-text',
  'POST /v1/keys',
  'POST /v1/policy/explain',
  'POST /v1/providers/:provider/tool-calls',
  'POST /v1/schedules',
  'POST /v1/sessions',
  'POST /v1/tools/:name/execute',
  'PUT /v1/assignments/:tool/:kind/:subject',
  'rpc Converse',
  'rpc CreateSession',
  'rpc Execute',
  'rpc ExecuteStream',
  'rpc StartCall',
];
/** Over gRPC what one tenant has is not there for another, or is its own alone: e2e/sessions-grpc.test.ts, approvals-grpc.test.ts. */
const BY_GRPC = [
  'rpc BeginTurn',
  'rpc CancelCall',
  'rpc DecideApproval',
  'rpc EndSession',
  'rpc GetAnalytics',
  'rpc GetApproval',
  'rpc GetCall',
  'rpc GetSession',
  'rpc GetSuggestions',
  'rpc ListApprovals',
  'rpc ListCalls',
  'rpc ListSessions',
  'rpc WatchCall',
];
/** The same for everybody: the tools, and what the gateway says of itself. */
const OF_EVERYBODY = [
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /docs',
  'GET /docs/initializer.js',
  'GET /livez',
  // That the tools have changed, and not which.
  'GET /mcp',
  'GET /mcp/:toolset',
  // Pages for browsers: what lets in is a link, and a state, that are good once (test/e2e/oauth.test.ts).
  'GET /oauth/callback/:provider',
  'GET /oauth/connect/:link',
  'POST /oauth/connect/:link',
  'GET /openapi.json',
  'GET /readyz',
  'GET /v1/pipeline',
  'GET /v1/registry',
  'GET /v1/tools',
  'GET /v1/tools/:name',
  'GET /v1/tools/:name/docs',
  // What it finds is what lists show; toolsets of a tenant have a table of their own (toolsets.test.ts).
  'GET /v1/tools/search',
  // It finds calls in the text that it is given, and runs none.
  'POST /v1/parse',
  'POST /v1/schedules/preview',
  'rpc GetTool',
  'rpc ListTools',
  'rpc SearchTools',
  'rpc WatchTools',
];

type PlatformRoute = readonly [route: string, body?: unknown];
type TenantRoute = readonly [route: string, what: Owned, body?: unknown];
type Owned =
  | 'recording'
  | 'webhook'
  | 'approval'
  | 'call'
  | 'schedule'
  | 'session'
  | 'key'
  | 'agent'
  | 'assigned'
  | 'delegation'
  | 'analysed'
  | 'suggested';
interface Problem {
  readonly code: string;
  readonly reason: string;
  readonly permission?: string;
}
interface AuditPage {
  readonly records: readonly {
    readonly kind: string;
    readonly principal_id: string;
    readonly outcome: string;
    readonly notes: { readonly action?: string; readonly target?: string } | null;
  }[];
}

let dir: string;
let refusing: Server;
let gateway: RunningGateway;
let doors: readonly Door[];
let platform: RestTarget;
let acme: RestTarget;
let umbrella: RestTarget;
const owned: Record<Owned, string> = {
  assigned: 'assigned-desk',
  recording: 'acme-1',
  webhook: '',
  approval: '',
  call: '',
  schedule: '',
  session: '',
  key: '',
  agent: 'acme-desk',
  delegation: '',
  analysed: 'acme-analysed',
  suggested: 'calls of guarded failed with VALIDATION',
};

const idOf = ({ key }: RestTarget) => key.slice('ute_live_'.length, 'ute_live_'.length + 8);

async function actsOf(target: RestTarget) {
  const { body } = await request<AuditPage>(target, 'GET', '/v1/audit?kind=management&page_size=500');
  return body.records.map(({ principal_id: by, outcome, notes }) => {
    const { action, target: of } = notes ?? {};
    return { by, outcome, action, target: of };
  });
}

/** In an export of records stands also what a tenant has tried to get at, by the name that it gave itself. */
function listedIn(body: unknown): string {
  const lines = Array.isArray(body) ? (body as { readonly record: { readonly kind: string } }[]) : undefined;
  return JSON.stringify(lines?.filter(({ record }) => record.kind !== 'management') ?? body);
}

function asked(route: string, id: string): { method: string; path: string } {
  const [method = '', path = ''] = route.split(' ');
  return {
    method,
    path: path
      .replace(/:(id|name|upstream|agent|subject)/, encodeURIComponent(id))
      .replace(/:(tool|provider|flow)/g, 'work')
      .replace(':kind', 'agent'),
  };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-walls-'));
  refusing = createServer((_request, answer) => answer.writeHead(410).end());
  await new Promise<void>((done) => refusing.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  gateway = await startGateway({
    tools: ['test/fixtures/async/tools.yaml'],
    more: {
      platform: { roles: ['admin'] },
      acme: { tenant: 'acme', roles: ['admin'], user: 'ann' },
      umbrella: { tenant: 'umbrella', roles: ['admin'], user: 'uma' },
      others: { tenants: ['umbrella', 'wayne'], roles: ['admin'], user: 'otto' },
      both: { tenants: ['acme', 'umbrella'], roles: ['admin'], user: 'bo' },
      any: { tenants: '*', roles: ['admin'], user: 'any' },
    },
    settings: {
      approvals: { allow_self_approval: true, groups: { desk: { users: ['ann'] } } },
      webhooks: {
        allow_hosts: [host],
        allow_private: ['127.0.0.0/8'],
        allow_http: true,
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        max_attempts: 1,
        base_delay_ms: 10,
      },
    },
  });
  [platform, acme, umbrella] = [gateway.key('platform'), gateway.key('acme'), gateway.key('umbrella')];
  doors = [restDoor(gateway), grpcDoor(gateway), mcpDoor(gateway)];
  await haveOwned(host);
});

afterAll(async () => {
  for (const door of doors) door.close();
  await gateway.stop();
  refusing.close();
  rmSync(dir, { recursive: true, force: true });
});

/** One of everything, for acme. */
async function haveOwned(host: string): Promise<void> {
  const started = await request(acme, 'POST', '/v1/admin/recordings', { name: owned.recording });
  expect(started.status).toBe(200);
  const waits = await acceptCall(acme, 'guarded');
  owned.approval = waits.body.meta.approval_id ?? '';
  owned.call = await acceptedId(
    acme,
    'work',
    { fail: 'as told' },
    { callback: { url: `http://${host}/cb` } },
  );
  await callWhen(acme, owned.call);
  owned.schedule = (await makeSchedule(acme, { schedule: 'daily 9am', tool: 'work' })).body.id;
  const called = { arguments: {}, context: { agent_id: owned.analysed } };
  await request(acme, 'POST', '/v1/tools/work/execute', called);
  for (const number of [1, 2, 3]) await callTool(acme, 'guarded', { nonsense: number });
  const handed = { to: 'bob', until: new Date(Date.now() + 3_600_000).toISOString() };
  owned.delegation = (
    await request<{ id: string }>(acme, 'POST', '/v1/approvals/delegations', handed)
  ).body.id;
  const made = { name: 'walls', roles: ['agent'] };
  owned.key = (await request<{ id: string }>(acme, 'POST', '/v1/keys', made)).body.id;
  await request(acme, 'POST', '/v1/agents', { name: owned.agent });
  await request(acme, 'PUT', `/v1/agents/${owned.agent}/tools/work`, {});
  const version = { version: '1.0.0', reason: 'walls' };
  await request(acme, 'PUT', `/v1/assignments/work/agent/${owned.assigned}`, version);
  owned.session = (await request<{ id: string }>(acme, 'POST', '/v1/sessions', {})).body.id;
  const dead = async () =>
    (await request<{ webhooks: { id: string }[] }>(acme, 'GET', '/v1/admin/webhooks/dead')).body.webhooks[0]
      ?.id;
  owned.webhook = (await vi.waitUntil(dead, { timeout: 20_000, interval: 50 })) ?? '';
}

it('every route that is served is in one of the tables here', () => {
  const listed = [
    ...[...OF_THE_PLATFORM, ...OF_A_TENANT, ...LISTS].map(([route]) => route.replace(/\?.*/, '')),
    ...STREAMS,
    ...MAKING,
    ...BY_GRPC,
    ...OF_EVERYBODY,
  ];
  // Execute goes past Nest, for speed.
  expect(listed.toSorted()).toEqual([...servedRoutes(), 'rpc Converse', 'rpc Execute'].toSorted());
});

describe('what concerns every tenant', () => {
  it.each(OF_THE_PLATFORM.map(([route, body]) => ({ route, body })))(
    '$route needs the permission of the platform',
    async ({ route, body }) => {
      const { method, path } = asked(route, 'work');
      for (const tenant of [acme, umbrella]) {
        const refused = await request<Problem>(tenant, method, path, body);
        expect([route, refused.status, refused.body.reason]).toEqual([route, 403, 'PERMISSION_MISSING']);
        expect(refused.body.permission).toMatch(/^(platform|specs):/);
      }
      const allowed = await request<Problem>(platform, method, path, body);
      expect(allowed.status).not.toBe(401);
      expect(allowed.status).not.toBe(403);
    },
  );

  it('leaves a tool in service that the admin of a tenant tried to switch off', async () => {
    await request(umbrella, 'POST', '/v1/admin/tools/work/disable');
    expect((await callTool(acme, 'work')).body.ok).toBe(true);
  });
});

describe('what one tenant has', () => {
  it.each(OF_A_TENANT.map(([route, what, body]) => ({ route, what, body })))(
    '$route is not there for the admin of another',
    async ({ route, what, body }) => {
      const { method, path } = asked(route, owned[what]);
      const refused = await sendTo<Problem>(umbrella, method, path, body);
      expect([route, refused.status]).toEqual([route, 404]);
      // Nothing tells it from what nobody has.
      const nobodys = asked(route, what === 'recording' ? 'nobodys' : UNKNOWN);
      const missing = await sendTo<Problem>(umbrella, method, nobodys.path, body);
      expect({ ...refused.body, instance: '' }).toEqual({ ...missing.body, instance: '' });
    },
  );

  it.each(LISTS)('%s shows it to its own tenant alone', async (route, what) => {
    const { method, path } = asked(route, '');
    expect(listedIn((await request(acme, method, path)).body)).toContain(owned[what]);
    expect(listedIn((await request(umbrella, method, path)).body)).not.toContain(owned[what]);
  });

  it.each(STREAMS)('%s tells it to its own tenant alone', async (route) => {
    const { path } = asked(route, '');
    const told = async (who: RestTarget) =>
      JSON.stringify(await eventsOf(who, path, { after: '0', enough: 1, withinMs: 1_000 }));
    expect(await told(acme)).toContain(owned.approval);
    expect(await told(umbrella)).toBe('[]');
  });

  it('is there still after all of that', async () => {
    expect((await request(acme, 'GET', `/v1/approvals/${owned.approval}`)).body).toMatchObject({
      status: 'pending',
    });
    expect((await request(acme, 'GET', `/v1/schedules/${owned.schedule}`)).body).toMatchObject({
      enabled: true,
    });
    const configured = await request(acme, 'GET', `/v1/agents/${owned.agent}/tools/work`);
    expect(configured.body).toMatchObject({ agent: owned.agent, is_enabled: true });
    const { body } = await request(acme, 'GET', '/v1/admin/recordings');
    expect(body).toMatchObject({ recordings: [{ name: owned.recording, status: 'running' }] });
  });

  it('gets no version of a tool assigned by the admin of another', async () => {
    const body = { version: '1.0.0', reason: 'stolen' };
    for (const path of ['/tenant/acme', '/agent/desk?tenant=acme', '/tenant/umbrella?tenant=acme']) {
      const refused = await request<Problem>(umbrella, 'PUT', `/v1/assignments/work${path}`, body);
      expect([path, refused.status, refused.body.reason]).toEqual([path, 403, 'TENANT_MISMATCH']);
    }
    const nobodys = await request<Problem>(platform, 'PUT', '/v1/assignments/work/user/ann', body);
    expect([nobodys.status, nobodys.body.reason]).toEqual([400, 'TENANT_REQUIRED']);
    const given = await request(platform, 'PUT', '/v1/assignments/work/user/uma?tenant=umbrella', body);
    expect(given).toMatchObject({ status: 200, body: { tenant: 'umbrella', subject: 'uma' } });
    const act = { by: idOf(platform), outcome: 'ok', action: 'assignments.put', target: 'work/user/uma' };
    expect(await actsOf(umbrella)).toContainEqual(act);
  });

  it('is not recorded for the admin of another', async () => {
    const wish = { name: 'stolen', tenant_id: 'acme' };
    const refused = await request<Problem>(umbrella, 'POST', '/v1/admin/recordings', wish);
    expect(refused).toMatchObject({ status: 403, body: { reason: 'PERMISSION_MISSING' } });
    await request(umbrella, 'POST', '/v1/admin/recordings', { name: 'own' });
    await callTool(acme, 'work', { answer: 'for acme alone' });
    await request(umbrella, 'POST', '/v1/admin/recordings/own/stop');
    const file = await fetch(`${umbrella.url}/v1/admin/recordings/own`, {
      headers: { authorization: `Bearer ${umbrella.key}` },
    });
    expect(await file.text()).not.toContain('for acme alone');
  });

  it('is recorded for the platform, which has to name the tenant, and the tenant finds it in its records', async () => {
    const nobodys = await request<Problem>(platform, 'POST', '/v1/admin/recordings', { name: 'nobodys' });
    expect(nobodys.status).toBe(400);
    const wish = { name: 'by-platform', tenant_id: 'umbrella' };
    expect((await request(platform, 'POST', '/v1/admin/recordings', wish)).status).toBe(200);
    expect((await request(platform, 'DELETE', '/v1/admin/recordings/by-platform')).status).toBe(200);
    const by = idOf(platform);
    expect(await actsOf(umbrella)).toContainEqual({
      by,
      outcome: 'ok',
      action: 'recordings.start',
      target: '',
    });
    expect(await actsOf(umbrella)).toContainEqual({
      by,
      outcome: 'ok',
      action: 'recordings.remove',
      target: 'by-platform',
    });
  });
});

/** What an agent may do on the management side of its own tenant: see calls, and make schedules and sessions of its own. */
const OF_AN_AGENT: ReadonlySet<string> = new Set(['GET /v1/schedules', 'GET /v1/sessions']);

describe('a key of several tenants', () => {
  const routes = [...OF_A_TENANT, ...LISTS].map(([route, what, body]) => ({ route, what, body }));

  it.each(routes)('does not get by for a third, or for none: $route', async ({ route, what, body }) => {
    const { method, path } = asked(route, owned[what]);
    const others = gateway.key('others');
    const third = await sendTo<Problem>({ ...others, tenant: 'acme' }, method, path, body);
    expect([route, third.status, third.body.reason]).toEqual([route, 403, 'TENANT_NOT_ALLOWED']);
    for (const who of ['others', 'both', 'any']) {
      const none = await sendTo<Problem>(gateway.key(who), method, path, body);
      expect([route, none.status, none.body.reason]).toEqual([route, 400, 'TENANT_REQUIRED']);
    }
    for (const tenant of ['acme, umbrella', 'x'.repeat(201)]) {
      const malformed = await sendTo<Problem>({ ...gateway.key('any'), tenant }, method, path, body);
      expect([route, malformed.status, malformed.body.reason]).toEqual([route, 400, 'MALFORMED_CALL']);
    }
    const foreign = await sendTo<Problem>({ ...umbrella, tenant: 'acme' }, method, path, body);
    expect([route, foreign.status, foreign.body.reason]).toEqual([route, 403, 'TENANT_MISMATCH']);
  });

  it.each(OF_A_TENANT.map(([route, what, body]) => ({ route, what, body })))(
    'does not reach into its other tenant: $route',
    async ({ route, what, body }) => {
      const { method, path } = asked(route, owned[what]);
      for (const who of ['both', 'any', 'others']) {
        const target = { ...gateway.key(who), tenant: 'umbrella' };
        expect([route, (await sendTo<Problem>(target, method, path, body)).status]).toEqual([route, 404]);
      }
    },
  );

  it.each(LISTS)(
    'lists what the tenant has that it names, and nothing of the other: %s',
    async (route, what) => {
      const { method, path } = asked(route, '');
      for (const who of ['both', 'any']) {
        const of = async (tenant: string) =>
          listedIn((await request({ ...gateway.key(who), tenant }, method, path)).body);
        expect(await of('acme')).toContain(owned[what]);
        expect(await of('umbrella')).not.toContain(owned[what]);
        expect(await of('wayne').catch(() => '')).not.toContain(owned[what]);
      }
    },
  );

  it('makes what it makes for the tenant that it names', async () => {
    const target = { ...gateway.key('both'), tenant: 'umbrella' };
    const schedule = await makeSchedule(target, { schedule: 'daily 9am', tool: 'work' });
    const call = await acceptedId(target, 'work');
    const key = { name: 'theirs', roles: ['agent'] };
    const made = (await request<{ id: string; tenant: string }>(target, 'POST', '/v1/keys', key)).body;
    expect(made.tenant).toBe('umbrella');
    for (const path of [`/v1/schedules/${schedule.body.id}`, `/v1/calls/${call}`, `/v1/keys/${made.id}`]) {
      expect([path, (await request(umbrella, 'GET', path)).status]).toEqual([path, 200]);
      expect([path, (await request(acme, 'GET', path)).status]).toEqual([path, 404]);
    }
    expect(await callWhen(target, call)).toMatchObject({ status: 'succeeded' });
  });

  it('makes no schedule for one tenant in the name of another', async () => {
    const target = { ...gateway.key('both'), tenant: 'umbrella' };
    const context = { tenant_id: 'acme' };
    const schedule = { schedule: 'daily 9am', tool: 'work', context };
    expect(await sendTo(target, 'POST', '/v1/schedules', schedule)).toMatchObject({
      status: 400,
      body: { reason: 'TENANTS_DIFFER' },
    });
  });

  it('makes no key of several tenants', async () => {
    const wish = { name: 'more', roles: ['agent'], tenants: ['acme', 'umbrella'] };
    for (const target of [{ ...gateway.key('both'), tenant: 'acme' }, acme]) {
      const refused = await request<Problem>(target, 'POST', '/v1/keys', wish);
      expect([refused.status, refused.body.reason]).toEqual([403, 'TENANT_MISMATCH']);
    }
  });

  it('is one of the platform to a list of keys, and none of the tenants that it serves', async () => {
    const wish = { name: 'shared', roles: ['agent'], tenants: ['acme', 'umbrella'] };
    const { id } = (await request<{ id: string }>(platform, 'POST', '/v1/keys', wish)).body;
    const listed = async (target: RestTarget, path = '/v1/keys?page_size=1000') =>
      JSON.stringify((await request(target, 'GET', path)).body);
    expect(await listed(platform, '/v1/keys?tenant=acme&page_size=1000')).toContain(id);
    expect(await listed(acme)).not.toContain(id);
    expect((await request(acme, 'DELETE', `/v1/keys/${id}`)).status).toBe(404);
    for (const tenant of [acme, umbrella])
      expect(await actsOf(tenant)).toContainEqual({
        by: idOf(platform),
        outcome: 'ok',
        action: 'keys.create',
        target: id,
      });
  });
});

describe('an agent', () => {
  const managed = [
    ...OF_THE_PLATFORM.map(([route, body]) => ({ route, what: undefined, body })),
    ...OF_A_TENANT.map(([route, what, body]) => ({ route, what, body })),
    ...LISTS.map(([route]) => ({ route, what: undefined, body: undefined })),
  ].filter(({ route }) => !OF_AN_AGENT.has(route));

  it.each(managed)('of the same tenant or another does not get by: $route', async ({ route, what, body }) => {
    const { method, path } = asked(route, what === undefined ? 'work' : owned[what]);
    for (const who of ['agent', 'other', 'reader'] as const) {
      const target = { url: gateway.url, key: gateway.keys[who].text };
      const { status } = await sendTo<Problem>(target, method, path, body);
      expect([who, route, [403, 404].includes(status) ? 'refused' : status]).toEqual([who, route, 'refused']);
    }
  });

  it.each(managed)('nor does nobody: $route', async ({ route, body }) => {
    const { method, path } = asked(route, 'work');
    const nobody = { url: gateway.url, key: 'ute_live_unknown' };
    expect((await sendTo<Problem>(nobody, method, path, body)).status).toBe(401);
  });

  it('sees no schedule of somebody else in the list', async () => {
    const agent = { url: gateway.url, key: gateway.keys.agent.text };
    const { status, body } = await request(agent, 'GET', '/v1/schedules');
    expect([status, JSON.stringify(body).includes(owned.schedule)]).toEqual([200, false]);
  });
});

it('every route of the OpenAPI document is one that these tables know', () => {
  const documented = Object.entries(
    buildOpenApi({ version: '0' })['paths'] as Record<string, object>,
  ).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(documented.filter((route) => !servedRoutes().includes(route))).toEqual([]);
});

describe('a call', () => {
  it('is made for no other tenant, by either door and by a schedule', async () => {
    const context = { tenant_id: 'acme' };
    for (const door of doors) {
      const decided = await door.call({ tool: 'work', argumentsJson: '{}', context, key: umbrella.key });
      expect([door.name, decided.type, decided.reason]).toEqual([
        door.name,
        'PERMISSION_DENIED',
        'TENANT_MISMATCH',
      ]);
    }
    const schedule = { schedule: 'daily 9am', tool: 'work', context };
    expect((await makeSchedule(umbrella, schedule)).status).toBe(403);
    const many = await request<{ responses: { error: { reason: string } }[] }>(
      umbrella,
      'POST',
      '/v1/execute',
      {
        calls: [{ tool: 'work', context }],
      },
    );
    expect(many.body.responses[0]?.error.reason).toBe('TENANT_MISMATCH');
    const written = await request<{ calls: { response: { error: { reason: string } } }[] }>(
      umbrella,
      'POST',
      '/v1/execute-text',
      { text: '{"tool": "work"}', context },
    );
    expect(written.body.calls[0]?.response.error.reason).toBe('TENANT_MISMATCH');
    const asked = await request<{ calls: { error: { reason: string } }[] }>(
      umbrella,
      'POST',
      '/v1/providers/anthropic/tool-calls',
      { message: [{ type: 'tool_use', id: 't', name: 'work', input: {} }], context },
    );
    expect(asked.body.calls[0]?.error.reason).toBe('TENANT_MISMATCH');
  });

  it('needs a tenant: the key of the platform makes none, by either door', async () => {
    for (const door of doors) {
      const decided = await door.call({ tool: 'work', argumentsJson: '{}', key: platform.key });
      expect([door.name, decided.type, decided.reason]).toEqual([
        door.name,
        'PERMISSION_DENIED',
        'TENANT_REQUIRED',
      ]);
    }
  });
});

describe('an act on the management side', () => {
  it('is in the records with who did it, done or refused', async () => {
    await request(platform, 'POST', '/v1/admin/reload');
    await request(platform, 'POST', '/v1/admin/tools/work_again/disable');
    await request(platform, 'POST', '/v1/admin/tools/work_again/enable');
    await request(umbrella, 'POST', '/v1/admin/tools/work_again/disable');
    await request(umbrella, 'PUT', '/v1/specs/planted', NEW_TOOL);
    const done = await actsOf(platform);
    const by = idOf(platform);
    expect(done).toContainEqual({ by, outcome: 'ok', action: 'tools.reload', target: '' });
    expect(done).toContainEqual({ by, outcome: 'ok', action: 'tools.disable', target: 'work_again' });
    expect(done).toContainEqual({ by, outcome: 'ok', action: 'tools.enable', target: 'work_again' });
    const tried = await actsOf(umbrella);
    const denied = { by: idOf(umbrella), outcome: 'PERMISSION_DENIED' };
    expect(tried).toContainEqual({ ...denied, action: 'tools.disable', target: 'work_again' });
    expect(tried).toContainEqual({ ...denied, action: 'specs.put', target: 'planted' });
  });
});
