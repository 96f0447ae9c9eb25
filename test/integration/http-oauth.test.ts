// OAuth 2.0 client credentials end to end: a provider and an API on loopback, tools of one connection.
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpExecutor } from '../../src/executors/http/index.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { callOf, functionOf } from '../helpers/call-kit.ts';
import { FakeOutside } from '../helpers/fake-outside.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';

const SECRET = 'client-secret-4711';

let servers: LoopbackServers;
let http: UndiciHttpClient;
let tokensGiven: number;
let requests: string[];
let accepts: (token: string) => boolean;
let settings: { [field: string]: unknown };

beforeEach(async () => {
  servers = new LoopbackServers();
  http = new UndiciHttpClient();
  [tokensGiven, requests, accepts] = [0, [], () => true];
  const provider = await servers.http((request, response) => {
    const basic = Buffer.from(
      request.headers.authorization?.replace('Basic ', '') ?? '',
      'base64',
    ).toString();
    response.setHeader('content-type', 'application/json');
    // Both halves come form-encoded (RFC 6749, 2.3.1).
    if (decodeURIComponent(basic) !== `gateway:${SECRET}`) {
      response.writeHead(401).end(JSON.stringify({ error: 'invalid_client', error_description: basic }));
      return;
    }
    tokensGiven += 1;
    response.end(
      JSON.stringify({ access_token: `access-${tokensGiven}`, token_type: 'Bearer', expires_in: 600 }),
    );
  });
  const api = await servers.http((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    requests.push(token);
    response.writeHead(accepts(token) ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ you_sent: token }));
  });
  settings = {
    type: 'http',
    base_url: api,
    auth: {
      type: 'oauth2_client_credentials',
      token_url: `${provider}/token`,
      client_id: 'gateway',
      client_secret: SECRET,
    },
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
});

afterEach(async () => {
  await http.close();
  await servers.close();
});

function executorOf(client = http) {
  return httpExecutor.create({
    http: client,
    clock: new SystemClock(),
    settings: { allowPrivate: [], allowPorts: [] },
  });
}

async function tool(executor = executorOf(), idempotent = true) {
  const prepared = await executor.prepare({
    function: functionOf({ metadata: { idempotent } }),
    options: { connection: 'api', path: '/' },
    connection: { name: 'api', type: 'http', settings: settings as never },
  });
  return () => prepared.execute(callOf({ signal: AbortSignal.timeout(10_000) }), () => {});
}

describe('tools of a connection with client credentials', () => {
  it('share one token, and no result shows it', async () => {
    const executor = executorOf();
    const [one, other] = [await tool(executor), await tool(executor)];
    const results = await Promise.all([one(), other(), one()]);
    expect(results).toEqual(results.map(() => ({ data: { you_sent: '[secret]' } })));
    expect({ tokensGiven, requests }).toEqual({
      tokensGiven: 1,
      requests: ['access-1', 'access-1', 'access-1'],
    });
  });

  it('try once more with a fresh token when it was refused and the tool is idempotent', async () => {
    accepts = (token) => token === 'access-2';
    expect(await (await tool())()).toMatchObject({ data: {} });
    expect(requests).toEqual(['access-1', 'access-2']);
  });

  it('do not try again when the tool is not idempotent, yet the next call has a fresh token', async () => {
    accepts = (token) => token === 'access-2';
    const call = await tool(executorOf(), false);
    await expect(call()).rejects.toMatchObject({ type: 'AUTH', reason: 'HTTP_401', origin: 'tool' });
    expect(requests).toEqual(['access-1']);
    expect(await call()).toMatchObject({ data: {} });
  });

  it('ask for no token per call when the upstream refuses every one', async () => {
    accepts = () => false;
    const call = await tool();
    for (let i = 0; i < 5; i += 1) await expect(call()).rejects.toMatchObject({ reason: 'HTTP_401' });
    expect({ tokensGiven, sent: requests.length }).toEqual({ tokensGiven: 2, sent: 6 });
  });

  it('are UNAVAILABLE with a clear reason when the provider refuses the client', async () => {
    settings = { ...settings, auth: { ...(settings['auth'] as object), client_secret: 'old-secret-0815' } };
    const failure: unknown = await (await tool())().catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'UNAVAILABLE', reason: 'CREDENTIALS_REFUSED', retryable: false });
    expect(inspect(failure, { depth: 8, showHidden: true })).not.toContain('old-secret');
    expect(requests).toEqual([]);
  });

  it('have no token fetched from where the egress policy does not lead', async () => {
    const outside = new FakeOutside().name('localhost', '169.254.169.254');
    const guarded = new UndiciHttpClient({ outside });
    settings = {
      ...settings,
      auth: { ...(settings['auth'] as object), token_url: 'http://localhost:1/token' },
    };
    const call = await tool(executorOf(guarded));
    await expect(call()).rejects.toMatchObject({ reason: 'EGRESS_DENIED' });
    expect(outside.dialled).toEqual([]);
    await guarded.close();
  });
});
