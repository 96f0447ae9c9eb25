// Sessions and calls that run later, over gRPC as over REST: one table of requests, the same decisions and the same fields.
import { resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decisionOfError } from '../helpers/doors.ts';
import { eventually } from '../helpers/eventually.ts';
import { request } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway, type WantedKey } from '../helpers/running-gateway.ts';

type Fields = Readonly<Record<string, unknown>>;
type Unary = (
  message: object,
  metadata: Metadata,
  done: (error: ServiceError | null, reply?: Fields) => void,
) => void;
interface Stream {
  on(event: 'data', listener: (message: Fields) => void): this;
  on(event: 'error', listener: (error: ServiceError) => void): this;
  on(event: 'end', listener: () => void): this;
}
interface Client extends Readonly<Record<string, Unary>> {}

const PROTO_DIR = resolve(import.meta.dirname, '../../proto');
const MORE: Readonly<Record<string, WantedKey>> = {
  clerk: { tenant: 'acme', roles: ['agent'], agents: ['back-office'] },
  stranger: { tenant: 'umbrella', roles: ['admin'] },
};
const FORGED = 'ses_01a1fdea-b5f6-7000-b37d-6e9df3cc0263';
const NOBODYS = '01a1fdea-b5f6-7000-b37d-6e9df3cc0263';

let gateway: RunningGateway;
let client: Client & { close(): void };

beforeAll(async () => {
  const modes = { voice: { retrieval_soft_ms: null } };
  gateway = await startGateway({
    tools: ['examples/sessions/tools.yaml', 'examples/async-calls/tools.yaml'],
    settings: { modes },
    more: MORE,
  });
  const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
    includeDirs: [PROTO_DIR],
    enums: String,
    defaults: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    unified_tool_executor: {
      v1: { ToolExecutorService: new (address: string, by: object) => typeof client };
    };
  };
  client = new loaded.unified_tool_executor.v1.ToolExecutorService(
    gateway.service.grpcAddress,
    credentials.createInsecure(),
  );
});

afterAll(async () => {
  client?.close();
  await gateway?.stop();
});

const keyOf = (who: string) =>
  who in MORE ? gateway.key(who).key : gateway.keys[who as 'admin' | 'agent' | 'reader'].text;

function metadataOf(who: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${keyOf(who)}`);
  return metadata;
}

interface Outcome {
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  readonly answer?: Fields;
}

function rpc(method: string, message: object, who = 'agent'): Promise<Outcome> {
  return new Promise((done) => {
    (client[method] as Unary).call(client, message, metadataOf(who), (error, reply) => {
      if (error === null) return done({ answer: reply ?? {} });
      const { type, reason } = decisionOfError(error);
      done({ type, reason });
    });
  });
}

async function rest(method: string, path: string, body?: object, who = 'agent'): Promise<Outcome> {
  const { status, body: answer } = await request<Fields>(
    { url: gateway.url, key: keyOf(who) },
    method,
    path,
    body,
  );
  return status < 400 ? { answer } : { type: String(answer['code']), reason: String(answer['reason']) };
}

const refusal = ({ type, reason }: Outcome) => ({ type, reason });
interface Figures {
  readonly agents: readonly Fields[];
  readonly failures: readonly Fields[];
}

/** By the names of REST, without what is not set: gRPC has the figures of a tool beside its name. */
function flat(said: unknown): unknown {
  if (Array.isArray(said)) return said.map(flat);
  if (typeof said !== 'object' || said === null) return said;
  const { figures, ...rest } = said as Fields;
  const fields = Object.entries({ ...rest, ...(figures as Fields | undefined) })
    .filter(([name, value]) => value !== null && value !== '' && !name.startsWith('_'))
    .map(([name, value]) => [name.replaceAll('_', '').toLowerCase(), flat(value)] as const);
  return Object.fromEntries(fields);
}

const idOf = ({ answer = {} }: Outcome) =>
  String((answer['session'] as Fields | undefined)?.['id'] ?? answer['id']);

type Case = readonly [
  name: string,
  rest: readonly [string, string, object?, string?],
  rpc: readonly [string, object, string?],
];
const CASES: readonly Case[] = [
  ['a mode that is none', ['POST', '/v1/sessions', { mode: '9' }], ['CreateSession', { mode: 9 }]],
  ['another tenant', ['POST', '/v1/sessions', { tenant_id: 'x' }], ['CreateSession', { tenantId: 'x' }]],
  [
    'an agent that the key may not speak for',
    ['POST', '/v1/sessions', { agent_id: 'desk' }, 'clerk'],
    ['CreateSession', { agentId: 'desk' }, 'clerk'],
  ],
  [
    'a name that is too long',
    ['POST', '/v1/sessions', { user_id: 'x'.repeat(600) }],
    ['CreateSession', { userId: 'x'.repeat(600) }],
  ],
  [
    'a user whose name holds NUL',
    ['POST', '/v1/sessions', { user_id: 'a\0b' }],
    ['CreateSession', { userId: 'a\0b' }],
  ],
  ['a session that nobody has', ['GET', `/v1/sessions/${FORGED}`], ['GetSession', { id: FORGED }]],
  ['an id that is none', ['DELETE', '/v1/sessions/x'], ['EndSession', { id: 'x' }]],
  [
    'a turn of one that is not there',
    ['POST', `/v1/sessions/${FORGED}/turns`],
    ['BeginTurn', { id: FORGED }],
  ],
  ['a page token that is none', ['GET', '/v1/sessions?page_token=x'], ['ListSessions', { pageToken: 'x' }]],
  ['a page of less than nothing', ['GET', '/v1/sessions?page_size=-1'], ['ListSessions', { pageSize: -1 }]],
  ['a call that nobody has', ['GET', `/v1/calls/${NOBODYS}`], ['GetCall', { id: NOBODYS }]],
  [
    'a call that nobody has, to be cancelled',
    ['DELETE', `/v1/calls/${NOBODYS}`],
    ['CancelCall', { id: NOBODYS }],
  ],
  ['the history without the permission', ['GET', '/v1/calls'], ['ListCalls', {}]],
  [
    'a status that is none',
    ['GET', '/v1/calls?status=x', undefined, 'admin'],
    ['ListCalls', { status: 'x' }, 'admin'],
  ],
  [
    'a time that is none',
    ['GET', '/v1/calls?from=x', undefined, 'admin'],
    ['ListCalls', { from: 'x' }, 'admin'],
  ],
  ['figures without the permission', ['GET', '/v1/analytics'], ['GetAnalytics', {}]],
  ['suggestions without the permission', ['GET', '/v1/suggestions'], ['GetSuggestions', {}]],
  [
    'suggestions from the calls of another tenant',
    ['GET', '/v1/suggestions?tenant=acme', undefined, 'stranger'],
    ['GetSuggestions', { tenant: 'acme' }, 'stranger'],
  ],
  [
    'figures of another tenant',
    ['GET', '/v1/analytics?tenant=acme', undefined, 'stranger'],
    ['GetAnalytics', { tenant: 'acme' }, 'stranger'],
  ],
  [
    'figures of more than a month',
    ['GET', '/v1/analytics?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z', undefined, 'admin'],
    ['GetAnalytics', { from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 'admin'],
  ],
  [
    'figures in lists of less than nothing',
    ['GET', '/v1/analytics?top=-1', undefined, 'admin'],
    ['GetAnalytics', { top: -1 }, 'admin'],
  ],
];

describe('what one door refuses, the other refuses for the same reason', () => {
  it.each(CASES)('%s', async (_name, [method, path, body, by], [rpcMethod, message, who]) => {
    const [overRest, overGrpc] = [await rest(method, path, body, by), await rpc(rpcMethod, message, who)];
    expect(overRest.reason).toBeDefined();
    expect(refusal(overGrpc)).toEqual(refusal(overRest));
  });
});

it('who may not do what changes something is on record, by whichever door', async () => {
  const asked = async () => {
    const { answer = {} } = await rest('GET', '/v1/audit?kind=management', undefined, 'admin');
    const records = answer['records'] as readonly { outcome: string; door: string; notes: Fields }[];
    const refused = records.filter(({ outcome }) => outcome === 'PERMISSION_DENIED');
    return refused.map(({ door, notes }) => `${door} ${String(notes['action'])} ${String(notes['target'])}`);
  };
  await rest('POST', '/v1/sessions', {}, 'reader');
  await rest('DELETE', `/v1/sessions/${FORGED}`, undefined, 'reader');
  await rpc('CreateSession', {}, 'reader');
  await rpc('EndSession', { id: FORGED }, 'reader');
  await expect
    .poll(asked)
    .toEqual(
      expect.arrayContaining(
        ['rest', 'grpc'].flatMap((door) => [`${door} sessions.create `, `${door} sessions.end ${FORGED}`]),
      ),
    );
});

describe('a session', () => {
  it('declared at one door is the same at the other, and ends for both', async () => {
    const made = await rpc('CreateSession', {
      agentId: 'desk',
      userId: 'ann',
      mode: 'INTERACTION_MODE_VOICE',
    });
    const id = idOf(made);
    const { answer: seen } = await rest('GET', `/v1/sessions/${id}`);
    expect(seen).toMatchObject({
      id,
      agent_id: 'desk',
      user_id: 'ann',
      mode: 'voice',
      turn_id: '1',
      state: 'active',
    });
    expect(made.answer).toMatchObject({
      session: {
        id,
        agentId: 'desk',
        mode: 'INTERACTION_MODE_VOICE',
        turnId: '1',
        registryVersion: seen?.['registry_version'],
      },
    });
    const execute = { tool: 'get_working_hours', context: { sessionId: id } };
    for (let each = 0; each < 2; each += 1)
      expect((await rpc('Execute', execute)).answer).toMatchObject({ ok: true });
    expect(await rpc('Execute', execute)).toMatchObject({ type: 'BUDGET_EXCEEDED', reason: 'BUDGET_SPENT' });
    expect((await rpc('GetSession', { id })).answer).toMatchObject({
      session: { budgets: [{ name: 'turn_retrievals', limit: 2, used: 2, freeAt: '' }] },
    });
    expect((await rpc('BeginTurn', { id })).answer).toMatchObject({ session: { turnId: '2' } });
    expect((await rpc('Execute', execute)).answer).toMatchObject({ ok: true });
    expect((await rpc('EndSession', { id })).answer).toMatchObject({ session: { state: 'ended' } });
    expect(await rpc('Execute', execute)).toMatchObject({
      type: 'SESSION_INACTIVE',
      reason: 'SESSION_ENDED',
    });
    expect((await rest('GET', `/v1/sessions/${id}`)).answer).toMatchObject({ state: 'ended' });
    const acts = await rest('GET', '/v1/audit?kind=management', undefined, 'admin');
    expect(JSON.stringify(acts.answer)).toContain(id);
  });

  it.each(['GetSession', 'BeginTurn', 'EndSession'])(
    '%s: it is not there for another tenant, nor for another user',
    async (method) => {
      const id = idOf(await rpc('CreateSession', { userId: 'ann' }));
      const missing = { type: 'NOT_FOUND', reason: 'SESSION_NOT_FOUND' };
      expect(await rpc(method, { id }, 'stranger')).toEqual(missing);
      expect(await rpc(method, { id, calledFor: { userId: 'bob' } })).toEqual(missing);
      expect((await rpc('GetSession', { id })).answer).toMatchObject({ session: { state: 'active' } });
    },
  );

  it('is listed page by page, newest first', async () => {
    const ids = [];
    for (let each = 0; each < 3; each += 1)
      ids.unshift(idOf(await rpc('CreateSession', { userId: 'paged' })));
    const { answer: first } = await rpc('ListSessions', { userId: 'paged', pageSize: 2, active: true });
    const listed = (answer: Fields | undefined) =>
      ((answer ?? {})['sessions'] as readonly Fields[]).map(({ id }) => id);
    expect(listed(first)).toEqual(ids.slice(0, 2));
    const rest = { userId: 'paged', pageSize: 2, active: true, pageToken: first?.['nextPageToken'] };
    const { answer: second } = await rpc('ListSessions', rest);
    expect(listed(second)).toEqual(ids.slice(2));
    expect(second?.['nextPageToken']).toBe('');
  });
});

describe('a call that runs later', () => {
  const started = async (args: object, context: object = {}) => {
    const message = { tool: 'get_faqs', argumentsJson: Buffer.from(JSON.stringify(args)), context };
    return String((await rpc('StartCall', message)).answer?.['callId']);
  };

  function watched(id: string): Promise<readonly Fields[]> {
    return new Promise((done, fail) => {
      const seen: Fields[] = [];
      const watch = client['WatchCall'] as unknown as (message: object, metadata: Metadata) => Stream;
      watch
        .call(client, { id }, metadataOf('agent'))
        .on('data', (message) => void seen.push(message))
        .on('error', fail)
        .on('end', () => done(seen));
    });
  }

  it('is accepted, watched to its end, and the same over REST', async () => {
    const id = await started({ topic: 'parking' });
    const news = await watched(id);
    expect(news.at(-1)).toMatchObject({ end: { id, status: 'succeeded' } });
    const { answer: overRest } = await rest('GET', `/v1/calls/${id}`);
    const call = (await rpc('GetCall', { id })).answer?.['call'] as Fields;
    expect(call).toMatchObject({
      id,
      status: 'succeeded',
      tool: 'get_faqs',
      principalId: overRest?.['principal_id'],
    });
    expect(JSON.parse(String(call['resultJson']))).toEqual(overRest?.['result']);
    const { answer } = await rpc('ListCalls', { tool: 'get_faqs', pageSize: 5 }, 'admin');
    expect(((answer ?? {})['calls'] as readonly Fields[]).map((each) => each['id'])).toContain(id);
  });

  it('is watched with what its tool says on the way', async () => {
    const argumentsJson = Buffer.from(JSON.stringify({ month: '2026-10', pages: 2 }));
    const id = String((await rpc('StartCall', { tool: 'write_report', argumentsJson })).answer?.['callId']);
    const said = (await watched(id)).flatMap(({ said: each }) => (each ? [each as Fields] : []));
    const progress = said.filter(({ kind }) => kind === 'progress');
    expect(progress.map(({ dataJson }) => JSON.parse(String(dataJson)) as unknown)).toContainEqual({
      fraction: 0.5,
      message: 'page 1 of 2',
    });
  });

  it('is watched by a key until that is revoked, and no further', async () => {
    const wanted = { name: 'watcher', roles: ['agent'] };
    const made = (await rest('POST', '/v1/keys', wanted, 'admin')).answer as { id: string; key: string };
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${made.key}`);
    const argumentsJson = Buffer.from(JSON.stringify({ month: '2026-10', pages: 100 }));
    const id = await new Promise<string>((done, fail) =>
      (client['StartCall'] as Unary).call(
        client,
        { tool: 'write_report', argumentsJson },
        metadata,
        (error, reply) => (error === null ? done(String(reply?.['callId'])) : fail(error)),
      ),
    );
    const watch = client['WatchCall'] as unknown as (message: object, metadata: Metadata) => Stream;
    const refused = await new Promise<ServiceError>((done, fail) => {
      let revoked: Promise<Outcome> | undefined;
      watch
        .call(client, { id }, metadata)
        .on('data', () => void (revoked ??= rest('DELETE', `/v1/keys/${made.id}`, undefined, 'admin')))
        .on('error', done)
        .on('end', () => fail(new Error('it was watched to its end')));
    });
    expect(decisionOfError(refused)).toMatchObject({ type: 'AUTH', reason: 'CREDENTIAL_INVALID' });
    await rpc('CancelCall', { id }, 'admin');
  });

  it('is cancelled while it runs, and not twice', async () => {
    const id = await started({ topic: 'parking', slow_ms: 5_000 });
    expect((await rpc('CancelCall', { id })).answer).toMatchObject({ call: { id } });
    await eventually(async () =>
      expect((await rpc('GetCall', { id })).answer).toMatchObject({ call: { status: 'cancelled' } }),
    );
    expect(await rpc('CancelCall', { id })).toEqual({ type: 'CONFLICT', reason: 'CALL_ENDED' });
  });

  it('that cannot be is refused before it is accepted, as over REST', async () => {
    const refused = async (message: object) => refusal(await rpc('StartCall', message));
    expect(await refused({ tool: 'nobody' })).toEqual({ type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND' });
    expect(await refused({ tool: 'get_faqs' })).toEqual({ type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' });
    expect(await refused({ tool: 'get_faqs', callbackUrl: 'https://evil.example' })).toEqual({
      type: 'VALIDATION',
      reason: 'CALLBACK_NOT_ALLOWED',
    });
  });

  it('is not there for another tenant: neither itself, nor in the history, nor what it says', async () => {
    const watch = client['WatchCall'] as unknown as (message: object, metadata: Metadata) => Stream;
    const refused = new Promise<ServiceError>((done) =>
      watch
        .call(client, { id: NOBODYS }, metadataOf('stranger'))
        .on('error', done)
        .on('data', () => undefined),
    );
    expect(decisionOfError(await refused)).toMatchObject({ reason: 'CALL_NOT_FOUND' });
    expect((await rpc('ListCalls', {}, 'stranger')).answer).toMatchObject({ calls: [] });
    expect((await rpc('ListSessions', {}, 'stranger')).answer).toMatchObject({ sessions: [] });
    const id = await started({ topic: 'parking' });
    for (const method of ['GetCall', 'CancelCall'])
      expect(await rpc(method, { id }, 'stranger')).toEqual({ type: 'NOT_FOUND', reason: 'CALL_NOT_FOUND' });
  });

  it('and all others add up to the same figures by either door, and to none for another tenant', async () => {
    await rpc('Execute', { tool: 'nobody' });
    await rpc('Execute', { tool: 'get_working_hours', context: { agentId: 'desk' } });
    const day = 86_400_000;
    const [from, to] = [-day, day].map((away) => new Date(Date.now() + away).toISOString());
    const both = async (who: string) => [
      (await rest('GET', `/v1/analytics?from=${from}&to=${to}&top=3`, undefined, who))
        .answer as unknown as Figures,
      (await rpc('GetAnalytics', { from, to, top: 3 }, who)).answer as unknown as Figures,
    ];
    await eventually(async () => {
      const [overRest, overGrpc] = await both('admin');
      expect(overRest?.failures.map(({ reason }) => reason)).toContain('TOOL_NOT_FOUND');
      expect(overRest?.agents.map(({ agent_id: agent }) => agent)).toContain('desk');
      expect(flat(overGrpc)).toEqual(flat(overRest));
    });
    const suggested = [
      (await rest('GET', `/v1/suggestions?from=${from}&to=${to}`, undefined, 'admin')).answer,
      (await rpc('GetSuggestions', { from, to }, 'admin')).answer,
    ];
    expect(flat(suggested[0])).toMatchObject({ suggestions: expect.arrayContaining([]) as unknown });
    expect(flat(suggested[1])).toEqual(flat(suggested[0]));
    for (const each of await both('stranger'))
      expect(flat(each)).toMatchObject({ totals: { calls: 0 }, tools: [], agents: [], days: [] });
  });

  it('of a session runs in it, also when that has ended meanwhile', async () => {
    const session = idOf(await rpc('CreateSession', { userId: 'ann' }));
    const id = await started({ topic: 'parking', slow_ms: 300 }, { sessionId: session });
    await rpc('EndSession', { id: session });
    expect((await watched(id)).at(-1)).toMatchObject({ end: { status: 'succeeded' } });
  });
});
