// Streams under hostile clients: floods, giant and half-sent frames, other people's streams, and credentials that are good no more.
import { createConnection, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { StreamClient } from '../helpers/stream-client.ts';

let gateway: RunningGateway;
const open: StreamClient[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml', 'test/fixtures/stream/tools.yaml'],
    settings: { stream: { max_per_credential: 20 }, modes: {} },
    roles: { caller: ['tools:call', 'tools:read'] },
    more: {
      neighbour: { tenant: 'acme', roles: ['agent'] },
      both: { tenants: ['acme', 'umbrella'], roles: ['agent'] },
      desk: { tenant: 'acme', roles: ['agent'], agents: ['desk'], user: 'ann' },
    },
  });
  await openDatabase(gateway);
});

/** As a client that is through: its streams are over, and give back their places. */
afterEach(async () => {
  for (const client of open.splice(0)) {
    client.socket.resume();
    client.close();
    await client.closed;
  }
});

afterAll(() => gateway?.stop());

const agent = () => ({ url: gateway.url, key: gateway.keys.agent.text });

async function start(target: { url: string; key?: string } = agent(), fields: object = {}) {
  const client = await StreamClient.start(target, fields);
  open.push(client);
  return client;
}

async function connect(target: { url: string; key?: string }) {
  const client = await StreamClient.open(target);
  open.push(client);
  return client;
}

async function metric(pattern: RegExp): Promise<number> {
  const text = await (await fetch(gateway.service.metricsUrl)).text();
  return Number(pattern.exec(text)?.[1] ?? 0);
}
const taken = () => metric(/^ute_stream_messages_total\{direction="in",type="text_delta"\} (\d+)/m);
const paused = () => metric(/^ute_stream_pauses_total (\d+)/m);

const refusedUpgrade = (target: Parameters<typeof StreamClient.open>[0]) =>
  StreamClient.open(target).then(
    () => 'opened',
    (error: { status: number; body: { reason: string } }) => [error.status, error.body.reason],
  );

describe('who may open a stream', () => {
  it('a credential that is no good is refused before there is a WebSocket', async () => {
    expect(await refusedUpgrade({ url: gateway.url, key: 'ute_live_AAAAAAAA_x_0' })).toEqual([
      401,
      'CREDENTIAL_INVALID',
    ]);
  });

  it('a page of another origin is refused, with a good credential too', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await refusedUpgrade({ ...agent(), headers })).toEqual([403, 'ORIGIN_DENIED']);
    expect(await refusedUpgrade({ ...agent(), headers: { origin: gateway.url } })).toBe('opened');
  });

  it('a browser shows its key in the first message; nothing is answered before', async () => {
    const stream = await connect({ url: gateway.url });
    stream.send({ type: 'tool_call', tool_name: 'who' });
    expect((await stream.next('error')).error?.message).toContain('must be start or resume');
    stream.send({ type: 'start', token: gateway.keys.agent.text });
    await stream.next('started');
    expect(await stream.call('who')).toMatchObject({ ok: true });
  });

  it('a first message without a credential, or with a wrong one, ends the connection', async () => {
    for (const token of [undefined, 'ute_live_AAAAAAAA_x_0']) {
      const stream = await connect({ url: gateway.url });
      stream.send({ type: 'start', token });
      expect((await stream.next('error')).error).toMatchObject({ type: 'AUTH' });
      expect(await stream.closed).toMatchObject({ code: 4401 });
    }
  });

  it('two credentials that differ are none', async () => {
    const stream = await connect(agent());
    stream.send({ type: 'start', token: gateway.keys.admin.text });
    expect((await stream.next('error')).error).toMatchObject({ type: 'AUTH' });
  });

  it('a key is never taken from the URL', async () => {
    const response = await fetch(`${gateway.url}/v1/stream?token=${gateway.keys.agent.text}`, {
      headers: { connection: 'upgrade' },
    });
    expect([response.status, await response.json()]).toMatchObject([426, { reason: 'UPGRADE_REQUIRED' }]);
  });

  it('who may not call tools has no stream', async () => {
    const stream = await connect({ url: gateway.url, key: gateway.keys.reader.text });
    stream.send({ type: 'start' });
    expect((await stream.next('error')).error).toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'PERMISSION_MISSING',
    });
    expect(await stream.closed).toMatchObject({ code: 4403 });
  });

  it('a credential speaks for no agent, user or tenant but its own', async () => {
    const desk = () => connect(gateway.key('desk'));
    const cases = [
      [{ agent_id: 'other' }, 'AGENT_MISMATCH'],
      [{ user_id: 'bob' }, 'USER_MISMATCH'],
      [{ tenant_id: 'umbrella' }, 'TENANT_MISMATCH'],
    ] as const;
    for (const [fields, reason] of cases) {
      const stream = await desk();
      stream.send({ type: 'start', ...fields });
      expect((await stream.next('error')).error).toMatchObject({ type: 'PERMISSION_DENIED', reason });
    }
  });

  it('a credential that serves several tenants names one, and every call is of that one', async () => {
    const unnamed = await connect(gateway.key('both'));
    unnamed.send({ type: 'start' });
    expect((await unnamed.next('error')).error).toMatchObject({ reason: 'TENANT_REQUIRED' });
    const stream = await start(gateway.key('both'), { tenant_id: 'umbrella' });
    expect((await stream.call('who')).result).toMatchObject({ tenantId: 'umbrella' });
    expect((await stream.call('who', {}, { context: { tenant_id: 'acme' } })).error).toMatchObject({
      type: 'VALIDATION',
      reason: 'TENANTS_DIFFER',
    });
  });

  it('a credential has no more streams than it may, and again one when another has ended', async () => {
    const key = gateway.key('neighbour');
    const streams = await Promise.all(Array.from({ length: 20 }, () => start(key)));
    const more = await connect(key);
    more.send({ type: 'start' });
    expect((await more.next('error')).error).toMatchObject({
      type: 'CONCURRENCY_LIMIT',
      reason: 'TOO_MANY_STREAMS',
    });
    expect(await more.closed).toMatchObject({ code: 4429 });
    streams[0]?.send({ type: 'end' });
    await streams[0]?.closed;
    expect(await (await start(key)).call('who')).toMatchObject({ ok: true });
  });

  it('requests for other upgrades are answered as if they had not asked', async () => {
    const { hostname, port } = new URL(gateway.url);
    const raw = (path: string, upgrade: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = createConnection(Number(port), hostname, () =>
          socket.write(
            `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: upgrade, close\r\nupgrade: ${upgrade}\r\n` +
              `authorization: Bearer ${gateway.keys.agent.text}\r\ncontent-type: application/json\r\ncontent-length: 34\r\n\r\n{"arguments":{"text":"hello you"}}`.slice(
                0,
                400,
              ),
          ),
        );
        let text = '';
        socket.on('data', (data) => (text += String(data)));
        socket.once('close', () => resolve(text));
        socket.once('error', reject);
      });
    expect(await raw('/v1/tools/echo/execute', 'h2c')).toMatch(/^HTTP\/1.1 200 /);
    expect(await raw('/v1/tools/echo/execute', 'websocket')).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe("other people's streams", () => {
  it.each(['neighbour', 'both'] as const)(
    'nobody goes on with the stream of another credential, with its token too: %s',
    async (who) => {
      const stream = await start(agent(), {});
      await stream.call('who');
      const thief = await connect(gateway.key(who));
      const tenant = who === 'both' ? { tenant_id: 'acme' } : {};
      thief.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: 0, ...tenant });
      expect((await thief.next('error')).error).toMatchObject({
        type: 'NOT_FOUND',
        reason: 'STREAM_NOT_FOUND',
      });
      expect(thief.messages.map(({ type }) => type)).toEqual(['error']);
      expect(await stream.call('who')).toMatchObject({ ok: true });
    },
  );

  it('a guessed token, one of another stream, and one that was cut are all not there', async () => {
    const stream = await start();
    const token = String(stream.started['resume_token']);
    const guesses = [
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      token.replace(/_[\w-]{32}$/, `_${'A'.repeat(32)}`),
      token.slice(0, -4),
      `ute_stream_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}_${'A'.repeat(32)}`,
      '__proto__',
    ];
    for (const guess of guesses) {
      const thief = await connect(agent());
      thief.send({ type: 'resume', resume_token: guess, last_seq: 0 });
      expect((await thief.next('error')).error).toMatchObject({
        type: 'NOT_FOUND',
        reason: 'STREAM_NOT_FOUND',
      });
      expect(await thief.closed).toMatchObject({ code: 4404 });
    }
    expect(await stream.call('who')).toMatchObject({ ok: true });
  });

  it("another tenant's session, and one of another credential, are not there", async () => {
    const { body } = await request<{ id: string }>(targetOf(gateway, 'agent'), 'POST', '/v1/sessions', {});
    for (const key of [gateway.keys.other.text, gateway.key('neighbour').key]) {
      const stream = await connect({ url: gateway.url, key });
      stream.send({ type: 'start', session_id: body.id });
      expect((await stream.next('error')).error).toMatchObject({
        type: 'NOT_FOUND',
        reason: 'SESSION_NOT_FOUND',
      });
    }
  });

  it('of two streams on one session the later one goes on, and the earlier one is told', async () => {
    const { body } = await request<{ id: string }>(targetOf(gateway, 'agent'), 'POST', '/v1/sessions', {});
    const first = await start(agent(), { session_id: body.id });
    first.send({ type: 'tool_call', tool_name: 'wait' });
    await first.next('tool_started');
    const second = await start(agent(), { session_id: body.id });
    expect(await first.closed).toEqual({ code: 4409, reason: 'STREAM_REPLACED' });
    expect(await second.call('who')).toMatchObject({ ok: true });
  });
});

describe('floods', () => {
  it('ten thousand frames at once are answered in order, and others are answered meanwhile', async () => {
    const stream = await start();
    const all = stream.nextWhere(({ seq }) => seq === 10_000);
    for (let count = 0; count < 10_000; count += 1) stream.send({ type: 'text_delta', text: `${count}` });
    const other = await request<{ ok: boolean }>(
      targetOf(gateway, 'agent'),
      'POST',
      '/v1/tools/who/execute',
      {
        arguments: {},
      },
    );
    expect(other.body.ok).toBe(true);
    await all;
    const texts = stream.messages.filter(({ type }) => type === 'text_delta').map(({ text }) => Number(text));
    expect(texts).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  });

  it('a thousand calls at once are each answered, most of them refused', async () => {
    const stream = await start();
    for (let count = 0; count < 1_000; count += 1)
      stream.send({ type: 'tool_call', id: `c${count}`, tool_name: 'wait', arguments: { ms: 20 } });
    await stream.nextWhere(({ type, id }) => type === 'tool_result' && id === 'c999');
    const results = stream.messages.filter(({ type }) => type === 'tool_result');
    expect(results.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, index) => `c${index}`));
    const refused = results.filter(({ error }) => error?.reason === 'STREAM_CALLS_FULL');
    expect(refused.length).toBeGreaterThan(0);
  });

  it('a frame that is larger than a body may be ends the connection, and nothing else', async () => {
    const stream = await start();
    stream.send({ type: 'text_delta', text: 'x'.repeat(2 << 20) });
    expect(await stream.closed).toMatchObject({ code: 1009 });
    expect(await (await start()).call('who')).toMatchObject({ ok: true });
  });

  it('a message in a thousand fragments is held to the same size', async () => {
    const stream = await start();
    const piece = Buffer.alloc(8_192, 0x78);
    for (let count = 0; count < 200; count += 1) stream.socket.send(piece, { fin: false, binary: false });
    expect(await stream.closed).toMatchObject({ code: 1009 });
  });

  it('bytes, and text that is no UTF-8, end the connection', async () => {
    const [bytes, text] = [await start(), await start()];
    bytes.socket.send(Buffer.from([1, 2, 3]));
    expect(await bytes.closed).toMatchObject({ code: 1003 });
    text.socket.send(Buffer.from([0xff, 0xfe, 0xfd]), { binary: false });
    expect(await text.closed).toMatchObject({ code: 1007 });
  });

  it('who does not speak the protocol is sent away', async () => {
    const stream = await start();
    for (let count = 0; count < 30; count += 1) stream.send('nonsense');
    expect(await stream.closed).toMatchObject({ code: 4400 });
    expect(stream.messages.filter(({ type }) => type === 'error').length).toBeLessThanOrEqual(21);
  });

  it('arguments that are nested without end are refused, and cost nobody the connection', async () => {
    const stream = await start();
    stream.send(
      `{"type":"tool_call","tool_name":"who","arguments":{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`,
    );
    expect((await stream.next('error')).error).toMatchObject({ type: 'VALIDATION' });
    stream.send('{"type":"tool_call","tool_name":"who","arguments":{"__proto__":{"admin":true}}}');
    expect((await stream.next('error')).error).toMatchObject({ type: 'VALIDATION', reason: 'FORBIDDEN_KEY' });
    expect(await stream.call('who')).toMatchObject({ ok: true });
  });

  it('a client that sends half a frame and no more holds nothing up, and the gateway stops without it', async () => {
    const sockets: Socket[] = [];
    const { hostname, port } = new URL(gateway.url);
    for (let count = 0; count < 20; count += 1) {
      const socket = createConnection(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write(
        `GET /v1/stream HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
          `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${gateway.keys.agent.text}\r\n\r\n`,
      );
      // A masked text frame of a kilobyte that never comes.
      socket.write(Buffer.from([0x81, 0xfe, 0x04, 0x00, 1, 2, 3, 4, 5]));
    }
    expect(await (await start()).call('who')).toMatchObject({ ok: true });
    for (const socket of sockets) socket.destroy();
  });

  it('a reader that reads nothing pauses its own stream: what it says is not taken, and all of it when it reads', async () => {
    const stream = await start();
    const before = await taken();
    stream.socket.pause();
    // More than all buffers between the two hold.
    for (let count = 1; count <= 4_000; count += 1)
      stream.send({ type: 'text_delta', text: `${count}`.padEnd(16_000) });
    await eventually(async () => expect(await paused()).toBeGreaterThan(0));
    // Others are answered as ever, often enough for all of that to have been taken.
    const other = await start();
    for (let count = 0; count < 50; count += 1) await other.call('large', { size: 100_000 });
    expect((await taken()) - before).toBeLessThan(3_000);
    stream.socket.resume();
    await stream.nextWhere(({ seq }) => seq === 4_000);
    const texts = stream.messages.filter(({ type }) => type === 'text_delta').map(({ text }) => Number(text));
    expect(texts).toEqual(Array.from({ length: 4_000 }, (_, index) => index + 1));
  });
});

describe('a credential that is good no more', () => {
  it('ends the stream within a second or two, and nobody goes on with it', async () => {
    const made = await request<{ id: string; key: string }>(targetOf(gateway, 'admin'), 'POST', '/v1/keys', {
      name: 'for a stream',
      roles: ['agent'],
    });
    const key = made.body.key;
    const stream = await start({ url: gateway.url, key });
    expect(await stream.call('who')).toMatchObject({ ok: true });
    await request(targetOf(gateway, 'admin'), 'DELETE', `/v1/keys/${made.body.id}`);
    expect(await stream.closed).toMatchObject({ code: 4401 });
    expect(await refusedUpgrade({ url: gateway.url, key })).toEqual([401, 'CREDENTIAL_INVALID']);
  });
});
