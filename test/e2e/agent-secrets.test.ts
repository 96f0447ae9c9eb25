// A canary in every place where a secret may go, said by tools and upstreams in every way that they have: it comes out nowhere. In the
// program as it is run, so that its log, its traces, its files, its Redis and its database are looked through too.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen, followEvents } from '../helpers/async-client.ts';
import { Canaries } from '../helpers/canaries.ts';
import { eventually } from '../helpers/eventually.ts';
import { configured, GatewayProcess, type Doors } from '../helpers/gateway-process.ts';
import { nodeServer } from '../helpers/mcp-kit.ts';
import { OtlpReceiver } from '../helpers/otlp-receiver.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { sendTo, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { TellingUpstream } from '../helpers/telling-upstream.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { forged, signed, signingKey, type SigningKey } from '../helpers/token-kit.ts';

/** It needs escaping wherever there is any. */
const CANARY = 'cAnary+7f/"q%41&=Zz9<ok>';
const TOOLS = ['leaky_js', 'leaky_py', 'leaky_http', 'leaky_in_gateway'] as const;
const HOWS = ['', 'throw', 'typed'] as const;
const AGENT = 'desk';
const KEY = createApiKey();
const WRONG_KEY = createApiKey();
const AUDIENCE = 'https://tools.example.com';
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** By the place that it is put into. Tokens and keys are added as they are made. */
const canaries = new Canaries({
  'sensitive_config of an agent': CANARY,
  'argument marked x-ute-sensitive': 'cAnary-arg+8g/"r%42&=Yy8<no>',
  'base_url of a connection, by ${env:}': 'cAnaryBase-4kTq9ZwX2mB7',
  'header of a connection, by ${file:}': 'cAnaryHead+5/hTq8"%x&=Uu7',
  'environment of an MCP server': 'cAnaryMcp-3qLs8WvB5xJ9',
  'access token of an account': 'cAnaryAccess-5wMz7KfR8tQ3',
  'refresh token of an account': 'cAnaryRefresh-8xNb4LgT6uH2',
  'client_secret of a provider': 'cAnaryClient2jFd9SpE7yV4',
  'password of database.url': 'cAnaryPass-6jRt7YvC3nD8',
  'password of redis.url': 'cAnaryRedis-9vHk3GsU5bW6',
  'header for the collector': 'cAnaryOtlp-7cQy2MtA4eZ8',
  'secret of webhooks': base64('cAnaryHook-7lPw6XbN4vS9-and-more'),
  'former secret of webhooks': base64('cAnaryOldHook-4rGx8JnK2mF5-and-more'),
  'secret of checkpoints': base64('cAnaryMark-3tBv7DqC9wL6-and-more'),
  'secret_access_key of S3': 'cAnaryS3-6nWj5RzY8hP2kX4',
  'token of Vault': 'hvs.cAnaryVault-8mKe5CqF6zA1',
  'API key': secretOf(KEY),
  'API key that nobody has': secretOf(WRONG_KEY),
});
const canary = (place: string) => canaries.of(place);
const expectNone = (where: string, text: string) => canaries.expectNone(where, text);
const ROOT = resolve(import.meta.dirname, '../..');

let dir: string;
let upstream: TellingUpstream;
let receiver: OtlpReceiver;
let redis: RedisServer;
let signer: SigningKey;
let postgres: Postgres;
let gateway: GatewayProcess;
let doors: Doors;
let target: RestTarget;
/** Whatever came over the wire. */
const heard: string[] = [];
/** By the stream of approvals. */
let told = '';

/** What of a key's text is no name. */
function secretOf({ text, id }: { readonly text: string; readonly id: string }): string {
  return text.slice(text.indexOf(id) + id.length + 1);
}

async function ask<Body = Record<string, unknown>>(...[method, path, body]: [string, string, unknown?]) {
  const answer = await sendTo<Body>(target, method, path, body);
  heard.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
  return answer;
}

const call = (tool: string, args: object, context: object = {}) =>
  ask<Envelope & { error?: { details: Record<string, string> } }>('POST', `/v1/tools/${tool}/execute`, {
    arguments: args,
    context: { agent_id: AGENT, ...context },
  });

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Tools over a connection with secrets of its own, and one with an argument that is none of anybody's business. */
function ownTools(folder: string): string {
  writeFileSync(join(folder, 'header'), canary('header of a connection, by ${file:}'));
  writeFileSync(join(folder, 'pay.js'), 'export const execute = () => ({ paid: true });\n');
  const secretive = {
    type: 'http',
    base_url: '${env:CANARY_BASE_URL}',
    headers: { 'X-Own': '${file:header}' },
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
  const server = {
    type: 'mcp',
    ...nodeServer(join(ROOT, 'test/fixtures/mcp/suite-server.js'), [], {
      env: { API_KEY: '${env:CANARY_MCP}' },
    }),
  };
  const how = { type: 'object', properties: { how: { type: 'string' } } };
  const card = { type: 'string', maxLength: 40, 'x-ute-sensitive': true };
  const pay = (name: string, more: object = {}) => ({
    name,
    description: 'Pays.',
    tool_type: 'javascript',
    input_schema: { type: 'object', properties: { card }, required: ['card'], additionalProperties: false },
    implementation_config: { handler: './pay.js' },
    ...more,
  });
  const tools = [
    {
      name: 'over_connection',
      description: 'Its upstream says what it was sent.',
      tool_type: 'http',
      input_schema: how,
      implementation_config: {
        connection: 'secretive',
        method: 'GET',
        path: '/echo',
        query: { how: '{how}' },
      },
    },
    {
      name: 'kept_answer',
      description: 'Its answer is kept for who asks again.',
      tool_type: 'http',
      input_schema: how,
      implementation_config: {
        connection: 'secretive',
        method: 'GET',
        path: '/echo',
        query: { how: '{how}' },
      },
      metadata: { read_only: true },
      extensions: { cache: { ttl_ms: 60_000, scope: 'tenant' } },
    },
    {
      name: 'with_account',
      description: 'Acts with an account.',
      tool_type: 'http',
      auth: { type: 'oauth2', provider: 'local', scopes: ['things.read'] },
      input_schema: how,
      implementation_config: {
        connection: 'secretive',
        method: 'GET',
        path: '/echo',
        query: { how: '{how}' },
      },
    },
    {
      name: 'over_mcp',
      description: 'A server that says what is in its environment.',
      tool_type: 'mcp',
      input_schema: { type: 'object' },
      implementation_config: { connection: 'server', tool: 'failing' },
    },
    pay('pay'),
    pay('pay_guarded', { metadata: { requires_approval: true } }),
  ];
  const file = join(folder, 'own-tools.yaml');
  writeFileSync(file, JSON.stringify({ connections: { secretive, server }, tools }));
  return file;
}

interface Streaming {
  on(event: 'data', listener: (message: object) => void): this;
  on(event: 'error' | 'end', listener: (error?: object) => void): this;
}

/** Everything that a gRPC client can see of an answer or a stream: messages, status, trailers. */
async function overGrpc(method: 'Execute' | 'ExecuteStream', tool: string, args: object, key = KEY.text) {
  const definition = loadSync('unified_tool_executor/v1/tool_executor_service.proto', {
    includeDirs: [join(ROOT, 'proto')],
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    unified_tool_executor: { v1: { ToolExecutorService: new (...args: unknown[]) => Record<string, never> } };
  };
  const Service = loaded.unified_tool_executor.v1.ToolExecutorService;
  const client = new Service(doors.grpc, credentials.createInsecure()) as unknown as {
    Execute(request: object, metadata: Metadata, done: (error: object | null, reply?: object) => void): void;
    ExecuteStream(request: object, metadata: Metadata): Streaming;
    close(): void;
  };
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const request = { tool, argumentsJson: Buffer.from(JSON.stringify(args)), context: { agentId: AGENT } };
  const seen: object[] = [];
  await new Promise<void>((done) => {
    if (method === 'Execute')
      client.Execute(request, metadata, (error, reply) => {
        seen.push(error ?? reply ?? {});
        done();
      });
    else
      client
        .ExecuteStream(request, metadata)
        .on('data', (message) => seen.push(message))
        .on('error', (error) => {
          seen.push(error ?? {});
          done();
        })
        .on('end', () => done());
  });
  client.close();
  heard.push(textsIn(seen));
  return seen;
}

/** Bytes as the text that they are; what stands apart in a message is also looked at as one. */
function textsIn(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  if (value instanceof Metadata) return textsIn(value.toJSON());
  if (typeof value !== 'object' || value === null) return String(value);
  const own = value instanceof Error ? `${value.message}\n` : '';
  return (
    own +
    Object.entries(value)
      .map(([name, inner]) => `${name}\n${textsIn(inner)}`)
      .join('\n')
  );
}

beforeAll(async () => {
  signer = await signingKey('k');
  dir = tempDir();
  const tokens = {
    access_token: canary('access token of an account'),
    refresh_token: canary('refresh token of an account'),
  };
  [upstream, receiver, redis] = await Promise.all([
    TellingUpstream.start({ keys: [signer.jwk], tokens }),
    OtlpReceiver.start(),
    startRedis(['--rdbcompression', 'no']),
  ]);
  await redis.client.config('SET', 'requirepass', canary('password of redis.url'));
  postgres = await startPostgres();
  const { port, url: issuer } = upstream;
  const claims = { iss: issuer, aud: AUDIENCE };
  canaries.add('token of an issuer', await signed(signer, Date.now(), { claims }));
  canaries.add(
    'token that nobody signed',
    forged({ alg: 'ES256', kid: 'k' }, { ...claims, jti: 'cAnary' }, 'cAnaryJwt-9nLd4DgH5yP2'),
  );
  const reach = { allow_http: true, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const databaseUrl = new URL(postgres.url());
  databaseUrl.password = canary('password of database.url');
  const own = ownTools(dir);
  const key = {
    id: KEY.id,
    secret_sha256: KEY.secretHash.toString('hex'),
    tenant: 'acme',
    roles: ['platform_admin'],
    user: 'ann',
  };
  const env = configured(dir, {
    auth: {
      keys: [key],
      issuers: [
        {
          issuer,
          jwks_url: `${issuer}/jwks`,
          audience: AUDIENCE,
          tenants: ['acme'],
          default_roles: ['agent'],
          ...reach,
        },
      ],
    },
    database: { url: databaseUrl.href },
    redis: { url: `redis://:${canary('password of redis.url')}@127.0.0.1:${redis.port}` },
    telemetry: { otlp_endpoint: receiver.url, export_interval_ms: 100 },
    extensions: { tracing: { content: true } },
    webhooks: {
      allow_hosts: ['127.0.0.1'],
      secret: `whsec_${canary('secret of webhooks')}`,
      previous_secret: `whsec_${canary('former secret of webhooks')}`,
      ...reach,
    },
    oauth: {
      providers: {
        local: {
          authorization_endpoint: `${issuer}/provider/authorize`,
          token_endpoint: `${issuer}/provider/token`,
          device_authorization_endpoint: `${issuer}/provider/device`,
          client_id: 'gateway',
          client_secret: '${env:CANARY_CLIENT}',
          hosts: [`127.0.0.1:${port}`],
          allow_private: ['127.0.0.0/8'],
          allow_ports: ['1-65535'],
        },
      },
    },
    audit: {
      checkpoint_webhook: {
        url: `${issuer}/checkpoints`,
        secret: `whsec_${canary('secret of checkpoints')}`,
        ...reach,
      },
      checkpoint_s3: {
        endpoint: issuer,
        bucket: 'bucket',
        access_key_id: 'AKIACANARY',
        secret_access_key: canary('secret_access_key of S3'),
        ...reach,
      },
    },
    // Beside the local keys: it is no Vault, and the log says so.
    secrets: { vault: { address: issuer, key: 'ute', ...reach } },
    loaders: [{ type: 'yaml-file', paths: [join(ROOT, 'test/fixtures/agents/tools.yaml'), own] }],
    executors: { python: { module_paths: [join(ROOT, 'test/fixtures/python')] } },
    approvals: { allow_self_approval: true, notify: [{ name: 'hook', url: `${issuer}/hook` }] },
    log: { level: 'debug' },
  });
  gateway = new GatewayProcess(dir, {
    ...env,
    TEST_AGENTS_PORT: String(port),
    CANARY_BASE_URL: `${issuer}/${canary('base_url of a connection, by ${env:}')}`,
    CANARY_MCP: canary('environment of an MCP server'),
    CANARY_CLIENT: canary('client_secret of a provider'),
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${canary('header for the collector')}`,
    UTE_VAULT_TOKEN: canary('token of Vault'),
  });
  doors = await gateway.ready();
  target = { url: doors.rest, key: KEY.text };
  await ask('POST', '/v1/agents', { name: AGENT });
  for (const tool of [...TOOLS, 'guarded']) {
    const path = `/v1/agents/${AGENT}/tools/${tool}`;
    const put = await ask('PUT', path, { sensitive_config: { token: CANARY } });
    if (put.status !== 200) throw new Error(JSON.stringify(put.body));
  }
  for (const tool of ['over_connection', 'kept_answer', 'with_account', 'over_mcp', 'pay', 'pay_guarded'])
    await ask('PUT', `/v1/agents/${AGENT}/tools/${tool}`, {});
  void listenToApprovals().catch(() => undefined);
});

afterAll(async () => {
  await gateway?.end();
  await postgres?.stop();
  upstream?.close();
  receiver?.close();
  await redis?.stop();
  removeDir(dir);
});

/** Until the gateway ends. */
async function listenToApprovals(): Promise<void> {
  const stream = await fetch(`${doors.rest}/v1/approvals/events`, {
    headers: { authorization: `Bearer ${KEY.text}` },
  });
  const decoder = new TextDecoder();
  for await (const chunk of stream.body ?? []) told += decoder.decode(chunk, { stream: true });
}

/** Everything in Redis: names, and what they hold as Redis itself writes it to a disk. */
async function everythingInRedis(): Promise<string> {
  const names = await redis.client.keys('*');
  const held = await Promise.all(names.map((name) => redis.client.dumpBuffer(name)));
  return [...names, ...held.map((each) => each?.toString('latin1') ?? '')].join('\n');
}

/** What a tool says while it runs, as the stream has it. */
function partialOf(message: object): string {
  const { partial } = message as { readonly partial?: { readonly dataJson: Buffer } | null };
  return partial ? String(JSON.parse(partial.dataJson.toString('utf8'))) : '';
}

/** Accepted calls keep their arguments, because they run with them (docs/security.md): that one column, and nothing else. */
function shownOf(table: string): string {
  if (table !== 'calls') return `"${table}"`;
  return `(SELECT (jsonb_populate_record(NULL::calls, to_jsonb(c) - 'request')).* FROM calls c)`;
}

describe('a secret', () => {
  it.each(TOOLS)('reaches %s, and comes back in no result, error or dry run', async (tool) => {
    const results = [];
    for (const how of HOWS) results.push((await call(tool, { how })).body);
    expect(results.map(({ ok }) => ok)).toContain(true);
    const length = JSON.stringify(results);
    // It was there: the tool has counted its characters, or the upstream has sent back its mark.
    expect(length).toMatch(tool === 'leaky_http' ? /\[secret\]/ : new RegExp(`"length":${CANARY.length}`));
    await call(tool, { how: '' }, { dry_run: true });
    for (const text of heard) expectNone(tool, text);
  });

  it('is in no event of a call that is followed, however it is cut into pieces', async () => {
    const ids = [];
    for (const tool of TOOLS) {
      const id = await acceptedId(target, tool, { how: '' }, { context: { agent_id: AGENT } });
      ids.push(id);
      heard.push(JSON.stringify(await callWhen(target, id)));
      const events = await followEvents(target, id);
      heard.push(JSON.stringify(events));
      const pieces = events
        .filter(({ event }) => event === 'partial')
        .map(({ data }) => (data as { data: string }).data);
      expectNone(`pieces of ${tool}`, pieces.join(''));
      const texts = events.map(({ data }) => JSON.stringify(data));
      expectNone(`events of ${tool}`, texts.join(''));
    }
    expect(ids).toHaveLength(TOOLS.length);
    for (const text of heard) expectNone('events', text);
  });

  it('is in no message, status or trailer of gRPC, also where a stream has cut it into pieces', async () => {
    let all = '';
    for (const tool of [...TOOLS, 'over_connection']) {
      for (const how of HOWS) {
        await overGrpc('Execute', tool, { how });
        const messages = await overGrpc('ExecuteStream', tool, { how });
        expect([tool, messages.length]).not.toEqual([tool, 0]);
        const pieces = messages.map((message) => partialOf(message)).join('');
        all += pieces;
        expectNone(`pieces of ${tool} by gRPC`, pieces);
      }
    }
    expect(all).toContain('[secret]');
    for (const text of heard) expectNone('gRPC', text);
  });

  it('of a connection reaches the upstream, which says all of it, and comes back in nothing', async () => {
    const bodies = [];
    for (const how of HOWS) bodies.push((await call('over_connection', { how })).body);
    // The upstream has said its path, and the header in base64.
    expect(JSON.stringify(bodies[0]).split('[secret]').length).toBeGreaterThan(3);
    await call('over_connection', { how: '' }, { dry_run: true });
    const id = await acceptedId(target, 'over_connection', { how: '' }, { context: { agent_id: AGENT } });
    heard.push(JSON.stringify(await callWhen(target, id)), JSON.stringify(await followEvents(target, id)));
    for (const text of heard) expectNone('over_connection', text);
  });

  it('of an MCP server, an account or an answer that is kept comes back in nothing', async () => {
    const path = `/v1/agents/${AGENT}/oauth/local/device`;
    const { flow } = (await ask<{ flow: string }>('POST', path)).body;
    // Not before the provider's interval is over.
    await eventually(async () => (await ask('POST', `${path}/${flow}`)).body['status'] === 'connected');
    expect(upstream.clients.join()).toContain(
      base64(`gateway:${canary('client_secret of a provider')}`).replace(/=+$/, ''),
    );
    const [own, kept, served] = ['with_account', 'kept_answer', 'over_mcp'];
    const answers: [tool: string, how: string | undefined, answer: RegExp][] = [
      [own, '', /"ok":true.*\[secret\]/],
      [kept, '', /"ok":true.*\[secret\]/],
      [kept, '', /"cached":true/],
      [served, undefined, /no such luck with \[secret\]/],
      [own, 'throw', /"ok":false/],
      [kept, 'throw', /"ok":false/],
    ];
    for (const [tool, how, answer] of answers) {
      const args = how === undefined ? {} : { how };
      expect(JSON.stringify((await call(tool, args)).body)).toMatch(answer);
      await overGrpc('Execute', tool, args);
      await call(tool, args, { dry_run: true });
    }
    await call('leaky_js', { how: 'kept' }, { idempotency_key: 'kept-1' });
    expect((await call('leaky_js', { how: 'kept' }, { idempotency_key: 'kept-1' })).body).toMatchObject({
      meta: { replayed: true },
    });
    await ask('GET', `/v1/agents/${AGENT}/oauth`);
    for (const text of heard) expectNone('accounts, kept answers and MCP', text);
  });

  it('of an argument is in no answer, refusal, approval or webhook', async () => {
    const card = canary('argument marked x-ute-sensitive');
    expect((await call('pay', { card })).body.ok).toBe(true);
    for (const wrong of [{ card: card.repeat(2) }, { card, other: card }, { card: [card] }])
      expect((await call('pay', wrong)).body.ok).toBe(false);
    await overGrpc('Execute', 'pay', { card: card.repeat(2) });
    await call('pay', { card }, { dry_run: true });
    const asked = await call('pay_guarded', { card });
    const { approval_id: id } = asked.body.error?.details ?? {};
    await ask('GET', `/v1/approvals/${id}`);
    await ask('GET', '/v1/approvals?page_size=100');
    const callback = {
      callback: { url: `${upstream.url}/hook` },
    };
    const accepted = await acceptedId(target, 'pay', { card }, { context: { agent_id: AGENT }, ...callback });
    heard.push(JSON.stringify(await callWhen(target, accepted)));
    for (const text of heard) expectNone('pay', text);
  });

  it('that a caller shows, right or wrong, is told to nobody', async () => {
    const shown = ['token of an issuer', 'token that nobody signed'].map(canary);
    const statuses = [];
    for (const key of [...shown, WRONG_KEY.text]) {
      const asked = { arguments: {}, context: { agent_id: AGENT } };
      const path = '/v1/tools/leaky_js/execute';
      const answer = await sendTo({ url: doors.rest, key }, 'POST', path, asked);
      statuses.push(answer.status);
      heard.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
      await overGrpc('Execute', 'leaky_js', {}, key);
    }
    expect(statuses).toEqual([200, 401, 401]);
    for (const text of heard) expectNone('credentials', text);
  });

  it('is in no approval, recording, record, call, configuration or refusal of one', async () => {
    await ask('POST', '/v1/admin/recordings', { name: 'canary' });
    const asked = await call('guarded', {});
    const { approval_id: id, confirmation_token: token } = asked.body.error?.details ?? {};
    await ask('GET', `/v1/approvals/${id}`);
    await ask('POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    expect((await call('guarded', {}, { confirmation_token: token })).body.ok).toBe(true);
    await call('leaky_js', {});
    await call('over_connection', {});
    await call('pay', { card: canary('argument marked x-ute-sensitive') });
    await ask('POST', '/v1/admin/recordings/canary/stop');
    const recording = await fetch(`${doors.rest}/v1/admin/recordings/canary`, {
      headers: { authorization: `Bearer ${KEY.text}` },
    });
    heard.push(await recording.text());
    const path = `/v1/agents/${AGENT}/tools/leaky_js`;
    for (const body of [
      { sensitive_config: { token: { nested: CANARY } } },
      { sensitive_config: { token: CANARY, other: CANARY } },
      { config: { token: CANARY } },
      { config: { greeting: 7 }, sensitive_config: { token: CANARY } },
      { is_enabled: CANARY },
    ])
      expect((await ask('PUT', path, body)).status).toBe(400);
    for (const look of ['/v1/agents', `/v1/agents/${AGENT}/tools`, path, `${path}/config-form`])
      await ask('GET', look);
    const looks = ['/v1/audit?page_size=500', '/v1/calls?page_size=500', '/v1/tools', '/readyz', '/v1/keys'];
    for (const look of [...looks, '/v1/admin/secrets', '/v1/admin/reload', '/v1/schedules', '/v1/sessions'])
      await ask('GET', look);
    for (const text of heard) expectNone('the wire', text);
  });

  it('is in no message to a hook and in no event of the stream of approvals', async () => {
    await eventually(() => {
      const hooks = upstream.messages.filter(({ path }) => path === '/hook').map(({ body }) => body);
      expect(hooks.filter((body) => body.includes('approval.decided'))).not.toEqual([]);
      expect(hooks.filter((body) => body.includes('"call_id"'))).not.toEqual([]);
      expect(told).toMatch(/event: decided/);
    });
    for (const { path, body } of upstream.messages) expectNone(path, body);
    expectNone('stream of approvals', told);
  });

  it('is in no span, point or line that a collector gets, also where spans hold arguments and results', async () => {
    await eventually(() => {
      const names = receiver.spans.map(({ name }) => name);
      for (const tool of [...TOOLS, 'over_connection', 'with_account', 'kept_answer', 'over_mcp', 'pay'])
        expect(names).toContain(`execute_tool ${tool}`);
      expect(receiver.lines.length).toBeGreaterThan(0);
      expect(receiver.points.length).toBeGreaterThan(0);
    });
    const contents = receiver.spans.map(({ attributes }) => attributes['gen_ai.tool.call.result']);
    expect(contents.join()).toContain('[secret]');
    for (const { path, bytes } of receiver.messages) expectNone(path, bytes.toString('utf8'));
  });

  it('is in no metric, and nowhere in Redis', async () => {
    expectNone('metrics', await (await fetch(doors.metrics)).text());
    const held = await everythingInRedis();
    // The answer that was kept is there.
    expect(held).toContain('[secret]');
    expectNone('Redis', held);
  });

  it('is in no log line, file or row', async () => {
    const tables = await postgres.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(tables.map(({ name }) => name)).toContain('agent_tools');
    for (const { name } of tables) {
      const rows = await postgres.sql(
        `SELECT t::text AS text, to_json(t)::text AS json FROM ${shownOf(String(name))} t`,
      );
      expectNone(`table ${String(name)}`, JSON.stringify(rows));
      expectNone(
        `table ${String(name)} as text`,
        rows.map(({ text, json }) => `${String(text)}\n${String(json)}`).join('\n'),
      );
    }
    const [kept] = await postgres.sql(
      `SELECT request::text AS text FROM calls WHERE tool = 'pay' AND request IS NOT NULL`,
    );
    expect(String(kept?.['text'])).toContain('cAnary-arg');
    const [row] = await postgres.sql(`SELECT sealed ->> 'token' AS token FROM agent_tools LIMIT 1`);
    expect(row?.['token']).toMatch(/^v1\.k000001(\.[\w-]+){4}$/);
    gateway.signal('SIGTERM');
    expect((await gateway.exited).code).toBe(0);
    const log = gateway.stdout + gateway.stderr;
    expect(log).toContain('a Python tool printed');
    expect(log).toContain('a JavaScript handler printed');
    expectNone('log', log);
    const files = filesUnder(join(dir, 'data'));
    expect(files.some((path) => path.includes('secret-keys'))).toBe(true);
    for (const path of files) expectNone(path, readFileSync(path, 'latin1'));
    for (const { path, body } of upstream.messages) expectNone(path, body);
    expect(statSync(join(dir, 'data/secret-keys/k000001.key')).mode & 0o777).toBe(0o600);
  });
});
