// A canary in every place where a secret may go, said by tools and upstreams in every way that they have: it comes out nowhere. In the
// program as it is run, so that its log, its files and its database are looked through too.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen, followEvents } from '../helpers/async-client.ts';
import { configured, GatewayProcess, type Doors } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { sendTo, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
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
/** By the place that it is put into. Tokens and keys are added as they are made. */
const CANARIES = new Map([
  ['sensitive_config of an agent', CANARY],
  ['argument marked x-ute-sensitive', 'cAnary-arg+8g/"r%42&=Yy8<no>'],
  ['base_url of a connection, by ${env:}', 'cAnaryBase-4kTq9ZwX2mB7'],
  ['header of a connection, by ${file:}', 'cAnaryHead+5/hTq8"%x&=Uu7'],
  ['password of database.url', 'cAnaryPass-6jRt7YvC3nD8'],
  ['secret of webhooks', Buffer.from('cAnaryHook-7lPw6XbN4vS9-and-more').toString('base64')],
  ['token of Vault', 'hvs.cAnaryVault-8mKe5CqF6zA1'],
  ['API key', secretOf(KEY)],
  ['API key that nobody has', secretOf(WRONG_KEY)],
]);
const canary = (place: string) => CANARIES.get(place) ?? '';
const ROOT = resolve(import.meta.dirname, '../..');

let dir: string;
let upstream: Server;
let signer: SigningKey;
let postgres: Postgres;
let gateway: GatewayProcess;
let doors: Doors;
let target: RestTarget;
/** Whatever came over the wire. */
const heard: string[] = [];

/** Every way in which a text may hold it, made here anew. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const aligned = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const inner = encoded.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(text),
    encodeURIComponent(text).toLowerCase(),
    bytes.toString('hex'),
    ...aligned,
    // Half of it is too much, too.
    text.slice(0, 12),
    text.slice(-12),
  ];
}

const forms = new Map<string, readonly string[]>();

function expectNone(where: string, text: string): void {
  for (const [place, secret] of CANARIES) {
    const known = forms.get(place) ?? formsOf(secret);
    forms.set(place, known);
    const found = known.filter((form) => text.includes(form));
    expect([where, place, found]).toEqual([where, place, []]);
  }
}

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
    pay('pay'),
    pay('pay_guarded', { metadata: { requires_approval: true } }),
  ];
  const file = join(folder, 'own-tools.yaml');
  writeFileSync(file, JSON.stringify({ connections: { secretive }, tools }));
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
  upstream = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()));
    asked.on('end', () => {
      if (asked.url === '/jwks') {
        answer.end(JSON.stringify({ keys: [signer.jwk] }));
        return;
      }
      const fails = asked.url?.includes('how=t') === true;
      answer.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
      const { 'x-token': token } = asked.headers;
      answer.end(
        JSON.stringify({
          token,
          said: { path: asked.url, headers: asked.headers },
          encoded: Buffer.from(`${asked.url}|${String(asked.headers['x-own'])}`).toString('base64'),
          url: encodeURIComponent(String(token)),
          body,
          code: Buffer.from(body).toString('base64'),
        }),
      );
    });
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
  postgres = await startPostgres();
  const { port } = upstream.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const claims = { iss: issuer, aud: AUDIENCE };
  CANARIES.set('token of an issuer', await signed(signer, Date.now(), { claims }));
  CANARIES.set(
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
    webhooks: { allow_hosts: ['127.0.0.1'], secret: `whsec_${canary('secret of webhooks')}`, ...reach },
    // Beside the local keys: it is no Vault, and the log says so.
    secrets: { vault: { address: issuer, key: 'ute', ...reach } },
    loaders: [{ type: 'yaml-file', paths: [join(ROOT, 'test/fixtures/agents/tools.yaml'), own] }],
    executors: { python: { module_paths: [join(ROOT, 'test/fixtures/python')] } },
    approvals: { allow_self_approval: true },
    log: { level: 'debug' },
  });
  gateway = new GatewayProcess(dir, {
    ...env,
    TEST_AGENTS_PORT: String(port),
    CANARY_BASE_URL: `${issuer}/${canary('base_url of a connection, by ${env:}')}`,
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
  for (const tool of ['over_connection', 'pay', 'pay_guarded'])
    await ask('PUT', `/v1/agents/${AGENT}/tools/${tool}`, {});
}, 120_000);

afterAll(async () => {
  await gateway?.end();
  await postgres?.stop();
  upstream?.close();
  removeDir(dir);
});

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
      callback: { url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/hook` },
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

  it('is in no metric, log line, file or row', async () => {
    const metrics = await (await fetch(doors.metrics)).text();
    expectNone('metrics', metrics);
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
    expect(statSync(join(dir, 'data/secret-keys/k000001.key')).mode & 0o777).toBe(0o600);
  });
});
