// Accounts by OAuth, through a running gateway and a real provider: the way of a human's browser, and the attacks on it (C4).
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { run } from '../../src/cli/run.ts';
import { CLIENT, startAccounts, TestBrowser, type AccountsProvider } from '../helpers/oidc-accounts.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

interface Link {
  readonly url: string;
}
interface Listed {
  readonly connections: readonly {
    readonly provider: string;
    readonly state: string;
    readonly scopes: string[];
  }[];
}
interface Refused {
  readonly ok: boolean;
  readonly data?: { readonly token?: string; readonly length?: number };
  readonly error?: {
    readonly type: string;
    readonly reason: string;
    readonly details: {
      readonly connect_url?: string;
      readonly missing_scopes?: string[];
      readonly authorize?: object;
    };
  };
}

const SOON = { timeout: 15_000, interval: 50 };

let api: Server;
let sent: (string | undefined)[] = [];
let answerWith = 200;
let accounts: AccountsProvider;
let gateway: RunningGateway;
let boss: RestTarget;
let caller: RestTarget;
let other: RestTarget;
let serial = 0;

beforeAll(async () => {
  api = createServer((asked: IncomingMessage, answer) => {
    sent.push(asked.headers.authorization);
    answer.writeHead(answerWith, { 'content-type': 'application/json' });
    answer.end(JSON.stringify({ sent: asked.headers.authorization }));
  });
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  const apiPort = (api.address() as AddressInfo).port;
  const port = await freePort();
  process.env['TEST_OAUTH_API_PORT'] = String(apiPort);
  process.env['TEST_OAUTH_SECRET'] = CLIENT.secret;
  const publicUrl = `http://127.0.0.1:${port}`;
  const callback = (name: string) => `${publicUrl}/oauth/callback/${name}`;
  accounts = await startAccounts([callback('local'), callback('twin')]);
  const provider = {
    issuer: accounts.url,
    client_id: CLIENT.id,
    client_secret: '${env:TEST_OAUTH_SECRET}',
    scopes: ['openid', 'offline_access'],
    authorization_parameters: { prompt: 'consent' },
    hosts: [`127.0.0.1:${apiPort}`],
    handlers: true,
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
  gateway = await startGateway({
    tools: ['test/fixtures/oauth/tools.yaml'],
    settings: {
      http: { port },
      oauth: {
        public_url: publicUrl,
        providers: { local: provider, twin: { ...provider, client_id: 'twin' } },
      },
    },
    more: {
      boss: { tenant: 'acme', roles: ['admin'] },
      ann: { tenant: 'acme', roles: ['admin'], user: 'ann' },
      caller: { tenant: 'acme', roles: ['agent'] },
      other: { tenant: 'umbrella', roles: ['admin'] },
    },
  });
  [boss, caller, other] = [gateway.key('boss'), gateway.key('caller'), gateway.key('other')];
});

afterAll(async () => {
  await gateway?.stop();
  await accounts?.close();
  api?.close();
  delete process.env['TEST_OAUTH_API_PORT'];
  delete process.env['TEST_OAUTH_SECRET'];
});

beforeEach(() => {
  [sent, answerWith] = [[], 200];
  accounts.denyWith = undefined;
});

const pathOf = (agent: string, rest = '') => `/v1/agents/${agent}/oauth${rest}`;
const isCallback = (url: string) => url.includes('/oauth/callback/');

async function declared(tools = ['list_events', 'token_length']): Promise<string> {
  const name = `desk-${(serial += 1)}`;
  expect((await request(boss, 'POST', '/v1/agents', { name })).status).toBe(201);
  for (const tool of tools)
    expect((await request(boss, 'PUT', `/v1/agents/${name}/tools/${tool}`, {})).status).toBe(200);
  return name;
}

async function called(
  agent: string,
  tool = 'list_events',
  by = boss,
): Promise<{ status: number; body: Refused }> {
  return request<Refused>(by, 'POST', `/v1/tools/${tool}/execute`, {
    arguments: {},
    context: { agent_id: agent },
  });
}

const linkFor = async (agent: string, provider = 'local', by = boss) =>
  (await request<Link>(by, 'POST', pathOf(agent, `/${provider}/authorize`))).body.url;

/** From the link's page to where the provider sends the browser back to; that is not followed. */
async function wentThrough(browser: TestBrowser, link: string): Promise<string> {
  const page = await browser.send('GET', link);
  expect(page.status).toBe(200);
  const begun = await browser.submit(await page.text(), link);
  expect(begun.status).toBe(303);
  return (await browser.follow(begun, link, isCallback)).url;
}

async function connected(agent: string, browser = new TestBrowser()): Promise<string> {
  const back = await wentThrough(browser, await linkFor(agent));
  const done = await browser.send('GET', back);
  expect([done.status, await done.text()]).toEqual([
    200,
    expect.stringContaining('is connected to your account'),
  ]);
  return back;
}

const listed = async (agent: string) => (await request<Listed>(boss, 'GET', pathOf(agent))).body.connections;

/** As if so much time had gone by. */
async function aged(agent: string): Promise<void> {
  await sql`UPDATE oauth_connections SET expires_at = now(), refresh_at = now(), version = DEFAULT
    WHERE agent = ${agent}`.execute(gateway.service.infra.database.db);
  const before = accounts.tokenRequests();
  await vi.waitUntil(async () => {
    await called(agent);
    return accounts.tokenRequests() > before;
  }, SOON);
}

describe('C4 OAuth2, an agent without an account', () => {
  it('is told where to connect one, and nothing is sent', async () => {
    const agent = await declared();
    const { status, body } = await called(agent);
    expect([status, body.error?.type, body.error?.reason]).toEqual([403, 'AUTH', 'NOT_CONNECTED']);
    expect(body.error?.details).toMatchObject({
      provider: 'local',
      authorize: { method: 'POST', path: pathOf(agent, '/local/authorize') },
    });
    expect(body.error?.details.connect_url).toContain('/oauth/connect/');
    expect(sent).toEqual([]);
  });

  it('a caller that may not connect agents gets no link, and can make none', async () => {
    const agent = await declared();
    expect((await called(agent, 'list_events', caller)).body.error?.details.connect_url).toBeUndefined();
    const refused = await request(caller, 'POST', pathOf(agent, '/local/authorize'));
    expect(refused).toMatchObject({ status: 403, body: { permission: 'agents:connect' } });
  });

  it('an agent that nobody declared is refused as any other that nobody configured', async () => {
    expect((await called('nobody')).body.error?.reason).toBe('TOOL_NOT_CONFIGURED');
  });
});

describe('C4 OAuth2, connected in a browser', () => {
  it('the token goes to the upstream as its bearer, and comes out nowhere', async () => {
    const agent = await declared();
    await connected(agent);
    const { body } = await called(agent);
    expect(body).toMatchObject({ ok: true, data: { sent: 'Bearer [secret]' } });
    const token = sent[0]?.replace('Bearer ', '') ?? '';
    expect(token.length).toBeGreaterThan(20);
    const handler = await called(agent, 'token_length');
    expect(handler.body.data).toEqual({ length: token.length, token: '[secret]' });
    const rows = await sql`SELECT * FROM oauth_connections WHERE agent = ${agent}`.execute(
      gateway.service.infra.database.db,
    );
    expect(JSON.stringify(rows.rows)).not.toContain(token);
    expect(await listed(agent)).toMatchObject([{ provider: 'local', state: 'connected' }]);
    const audit = await request(boss, 'GET', '/v1/audit?kind=management&page_size=200');
    expect(JSON.stringify(audit.body)).toContain(`"agents.oauth.connect","target":"${agent}/local"`);
  });

  it('the pages run no script, are kept by nobody and let nobody frame them', async () => {
    const agent = await declared();
    const { status, headers } = await new TestBrowser().send('GET', await linkFor(agent));
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
  });

  it('a tool that needs more than was granted is refused with what is missing', async () => {
    const agent = await declared();
    await connected(agent);
    expect((await request(boss, 'PUT', `/v1/agents/${agent}/tools/create_event`, {})).status).toBe(200);
    const { body } = await called(agent, 'create_event');
    expect(body.error).toMatchObject({
      reason: 'NEEDS_REAUTH',
      details: { missing_scopes: ['calendar.write'] },
    });
    await connected(agent);
    expect((await called(agent, 'create_event')).body.ok).toBe(true);
  });
});

describe('C4 OAuth2, attacks on the way', () => {
  it('a callback is good once', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    const back = await connected(agent, browser);
    const again = await browser.send('GET', back);
    expect([again.status, await again.text()]).toEqual([400, expect.stringContaining('not good any more')]);
  });

  it('a callback in another browser connects nothing, and does not spoil it for the right one', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    const back = await wentThrough(browser, await linkFor(agent));
    const victim = new TestBrowser();
    await victim.send('GET', await linkFor(agent));
    expect((await victim.send('GET', back)).status).toBe(400);
    expect(await listed(agent)).toEqual([]);
    expect((await browser.send('GET', back)).status).toBe(200);
  });

  it('a page of another origin cannot send a browser on', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    const link = await linkFor(agent);
    await browser.send('GET', link);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.send('POST', link, { form: {}, headers })).status).toBe(403);
    expect((await new TestBrowser().send('POST', link, { form: {} })).status).toBe(403);
  });

  it('an answer of one provider is none of another (mix-up)', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    const back = await wentThrough(browser, await linkFor(agent));
    expect((await browser.send('GET', back.replace('/callback/local', '/callback/twin'))).status).toBe(400);
    const url = new URL(back);
    url.searchParams.set('iss', 'https://evil.example');
    const asked = accounts.tokenRequests();
    expect((await browser.send('GET', url.href)).status).toBe(400);
    expect([await listed(agent), accounts.tokenRequests()]).toEqual([[], asked]);
  });

  it('what a provider says of its refusal is not shown', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    accounts.denyWith = '<img src=x onerror=alert(1)>';
    const back = await wentThrough(browser, await linkFor(agent));
    const page = await browser.send('GET', back);
    const html = await page.text();
    expect([page.status, html.includes('access_denied'), html.includes('<img')]).toEqual([400, true, false]);
  });

  it('a name that is HTML is shown as text', async () => {
    const name = `<b onclick="x">${(serial += 1)}`.replace('/', '');
    await request(boss, 'POST', '/v1/agents', { name });
    const link = await linkFor(encodeURIComponent(name));
    const html = await (await new TestBrowser().send('GET', link)).text();
    expect(html).toContain('&lt;b onclick=&quot;x&quot;&gt;');
  });

  it.each([
    '/oauth/connect/x',
    `/oauth/connect/${'A'.repeat(43)}`,
    '/oauth/callback/local',
    '/oauth/callback/none?state=x',
  ])("%s is nobody's", async (path) => {
    const answer = await fetch(`${gateway.url}${path}`);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });

  it('another tenant sees, makes and ends nothing', async () => {
    const agent = await declared();
    await connected(agent);
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/local/authorize'],
      ['POST', '/local/device'],
      ['DELETE', '/local'],
    ] as const)
      expect((await request(other, method, pathOf(agent, rest))).status).toBe(404);
    expect(await listed(agent)).toHaveLength(1);
  });
});

describe('C4 OAuth2, as time goes by', () => {
  it('a token that has ended is fetched anew, once for all calls, with the rotated refresh token each time', async () => {
    const agent = await declared();
    await connected(agent);
    await called(agent);
    const first = sent.at(-1);
    for (let round = 0; round < 2; round += 1) {
      const before = accounts.tokenRequests();
      await aged(agent);
      const all = await Promise.all(Array.from({ length: 8 }, () => called(agent)));
      expect(all.map(({ body }) => body.ok)).toEqual(Array.from({ length: 8 }, () => true));
      expect(accounts.tokenRequests() - before).toBe(1);
    }
    expect(sent.at(-1)).not.toBe(first);
  });

  it('an account that the provider does not know any more has to be connected again', async () => {
    const agent = await declared();
    await connected(agent);
    await accounts.revokeAll();
    await aged(agent);
    const { status, body } = await called(agent);
    expect([status, body.error?.reason]).toEqual([403, 'NEEDS_REAUTH']);
    expect(body.error?.details.connect_url).toBeDefined();
    expect(await listed(agent)).toMatchObject([{ state: 'needs_reauth', problem: 'invalid_grant' }]);
    await connected(agent);
    expect((await called(agent)).body.ok).toBe(true);
  });

  it('a token that the upstream refuses is replaced for the next call', async () => {
    const agent = await declared();
    await connected(agent);
    answerWith = 401;
    expect((await called(agent)).body.error?.reason).toBe('HTTP_401');
    answerWith = 200;
    expect((await called(agent)).body.ok).toBe(true);
    expect(sent.at(-1)).not.toBe(sent[0]);
  });

  it('a disconnected account is used no more, and revoked at the provider', async () => {
    const agent = await declared();
    await connected(agent);
    expect(await request(boss, 'DELETE', pathOf(agent, '/local'))).toMatchObject({
      status: 200,
      body: { revoked: true },
    });
    expect((await called(agent)).body.error?.reason).toBe('NOT_CONNECTED');
    // The link that this call was told.
    expect(await request(boss, 'DELETE', pathOf(agent, '/local'))).toMatchObject({
      status: 200,
      body: { revoked: false, flows: 1 },
    });
    expect((await request(boss, 'DELETE', pathOf(agent, '/local'))).status).toBe(404);
  });

  it('an account that is disconnected while its code is being exchanged does not come back connected', async () => {
    const [agent, browser] = [await declared(), new TestBrowser()];
    const back = await wentThrough(browser, await linkFor(agent));
    const revoked = accounts.revocations();
    const held = accounts.holdTokens();
    const exchange = browser.send('GET', back);
    await held.asked;
    const ended = await request(boss, 'DELETE', pathOf(agent, '/local'));
    expect(ended).toMatchObject({ status: 200, body: { revoked: false, flows: 1 } });
    held.release();
    expect((await exchange).status).toBe(400);
    expect(await listed(agent)).toEqual([]);
    // Nobody could take back later what is kept nowhere.
    expect(accounts.revocations()).toBe(revoked + 1);
  });

  it('an erased user leaves no account connected that they connected, and others keep theirs', async () => {
    const [agent, left] = [await declared(), await declared()];
    const revoked = accounts.revocations();
    const link = await linkFor(agent, 'local', gateway.key('ann'));
    const browser = new TestBrowser();
    expect((await browser.send('GET', await wentThrough(browser, link))).status).toBe(200);
    await connected(left);
    const erased = await request(boss, 'POST', '/v1/audit/erasures', { user_id: 'ann' });
    expect(erased).toMatchObject({ status: 200, body: { erased: { accounts: 1 } } });
    expect([await listed(agent), (await listed(left)).length]).toEqual([[], 1]);
    expect(accounts.revocations()).toBe(revoked + 1);
    expect((await called(agent)).body.error?.reason).toBe('NOT_CONNECTED');
    const again = await request(boss, 'POST', '/v1/audit/erasures', { user_id: 'ann' });
    expect(again).toMatchObject({ body: { erased: { accounts: 0 } } });
  });

  it('goes with its agent: one of the same name has none', async () => {
    const agent = await declared();
    await connected(agent);
    expect((await request(boss, 'DELETE', `/v1/agents/${agent}`)).status).toBe(204);
    await request(boss, 'POST', '/v1/agents', { name: agent });
    await request(boss, 'PUT', `/v1/agents/${agent}/tools/list_events`, {});
    expect((await called(agent)).body.error?.reason).toBe('NOT_CONNECTED');
  });
});

describe('C4 OAuth2, on the command line', () => {
  async function ute(...argv: readonly string[]) {
    let [stdout, stderr] = ['', ''];
    const code = await run([...argv, '--url', boss.url, '--key', boss.key], {
      cwd: '.',
      env: {},
      fetch,
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      readStdin: () => Promise.resolve(''),
    });
    return { code, stdout, stderr };
  }

  it('an account is connected by a link, looked at, and disconnected', async () => {
    const agent = await declared();
    const { code, stdout } = await ute('agents', 'connect', agent, 'local');
    const [link = '', note] = stdout.split('\n');
    expect([code, note]).toEqual([0, expect.stringContaining('Whoever opens it chooses the account')]);
    const browser = new TestBrowser();
    const done = await browser.send('GET', await wentThrough(browser, link));
    expect(done.status).toBe(200);
    expect((await ute('agents', 'accounts', agent)).stdout).toMatch(/local\s+connected\s+\S*calendar\.read/);
    expect((await ute('agents', 'disconnect', agent, 'local')).stdout).toContain(
      'deleted, and revoked there',
    );
    expect(await ute('agents', 'disconnect', agent, 'local')).toMatchObject({ code: 3 });
    expect((await ute('agents', 'connect', agent, 'none')).stderr).toContain('there: local, twin');
  });
});

describe('C4 OAuth2, without a browser here', () => {
  it('a human types a code in elsewhere', async () => {
    const agent = await declared();
    const started = await request<{ flow: string; user_code: string; verification_uri: string }>(
      boss,
      'POST',
      pathOf(agent, '/local/device'),
    );
    expect(started.status).toBe(201);
    const { flow, user_code: code, verification_uri: uri } = started.body;
    const poll = () => sendTo<{ status: string }>(boss, 'POST', pathOf(agent, `/local/device/${flow}`));
    expect((await poll()).body.status).toBe('pending');
    const human = new TestBrowser();
    const first = await human.send('GET', uri);
    const confirm = await human.submit(await first.text(), uri, { user_code: code });
    const agreed = await human.submit(await confirm.text(), uri, { confirm: 'yes' });
    const done = await human.follow(agreed, uri);
    expect(done.response.status).toBe(200);
    await sql`UPDATE oauth_flows SET next_poll_at = now() WHERE agent = ${agent}`.execute(
      gateway.service.infra.database.db,
    );
    expect((await poll()).body.status).toBe('connected');
    expect((await called(agent)).body.ok).toBe(true);
    expect((await poll()).status).toBe(404);
  });
});
