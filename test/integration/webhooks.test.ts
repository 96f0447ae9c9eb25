// Webhooks of asynchronous calls: signed, tried again, given up, sent anew; and only where the operator allows it.
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptCall, acceptedId, callWhen } from '../helpers/async-client.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['test/fixtures/async/tools.yaml'];
const KEY = Buffer.alloc(32, 7);
const POLL = { timeout: 10_000, interval: 20 };

interface Received {
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

describe('a webhook', () => {
  let receiver: Server;
  let gateway: RunningGateway;
  let agent: RestTarget;
  let host: string;
  const received: Received[] = [];
  /** What the receiver answers next; then 200. */
  const answers: number[] = [];

  beforeAll(async () => {
    receiver = createServer((incoming, answer) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
      incoming.on('end', () => {
        received.push({ path: incoming.url ?? '', headers: incoming.headers, body });
        answer.writeHead(answers.shift() ?? 200, { location: '/elsewhere' }).end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    gateway = await startGateway({
      tools: TOOLS,
      settings: {
        webhooks: {
          allow_hosts: [host],
          allow_private: ['127.0.0.0/8'],
          allow_ports: ['1-65535'],
          allow_http: true,
          secret: `whsec_${KEY.toString('base64')}`,
          max_attempts: 3,
          base_delay_ms: 10,
        },
      },
    });
    agent = targetOf(gateway, 'agent');
  });
  beforeEach(() => {
    received.length = 0;
    answers.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    receiver.close();
  });

  const callback = (path = '/done') => ({ callback: { url: `http://${host}${path}` } });

  it('says how a call ended, signed so that only the operator can have sent it', async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const beside = { ...callback('/done?x=1'), context: { traceparent } };
    const id = await acceptedId(agent, 'work', { answer: 'told' }, beside);
    await expect.poll(() => received.length, POLL).toBe(1);
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = received;
    expect(path).toBe('/done?x=1');
    expect(JSON.parse(body)).toMatchObject({
      type: 'call.ended',
      data: {
        call_id: id,
        call_url: `/v1/calls/${id}`,
        status: 'succeeded',
        result: { ok: true, data: 'told' },
      },
    });
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`,
    );
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(30);
    expect(headers['authorization']).toBeUndefined();
    expect(headers['traceparent']).toBe(traceparent);
  });

  it('says how each run of a schedule ended, and which schedule that was', async () => {
    const asked = { schedule: 'in 1s', tool: 'work', arguments: { answer: 'again' } };
    const { body } = await makeSchedule(agent, { ...asked, ...callback() });
    expect(body).toMatchObject({ callback_url: `http://${host}/done` });
    await expect.poll(() => received.length, POLL).toBe(1);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      type: 'call.ended',
      data: { schedule_id: body.id, status: 'succeeded', result: { ok: true, data: 'again' } },
    });
    const elsewhere = await makeSchedule(agent, { ...asked, callback: { url: 'http://elsewhere.example/' } });
    expect(elsewhere).toMatchObject({ status: 400, body: { reason: 'CALLBACK_NOT_ALLOWED' } });
  });

  it('is tried again under the same id until it is taken; a redirect is not followed', async () => {
    answers.push(500, 302);
    await acceptedId(agent, 'work', {}, callback());
    await expect.poll(() => received.length, POLL).toBe(3);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(received.map(({ path }) => path)).toEqual(['/done', '/done', '/done']);
  });

  it('is given up after its attempts, listed, and sent anew when an operator says so', async () => {
    answers.push(500, 500, 500);
    const id = await acceptedId(agent, 'work', {}, callback());
    const admin = targetOf(gateway);
    const dead = async () => {
      const { body } = await request<{ webhooks: { id: string; call_id: string }[] }>(
        admin,
        'GET',
        '/v1/admin/webhooks/dead',
      );
      return body.webhooks;
    };
    await expect.poll(dead, POLL).toMatchObject([{ call_id: id, attempts: 3, last_error: 'answered 500' }]);
    expect(await request(agent, 'GET', '/v1/admin/webhooks/dead')).toMatchObject({ status: 403 });
    const [message] = await dead();
    expect(await request(admin, 'POST', `/v1/admin/webhooks/${message?.id}/redeliver`)).toMatchObject({
      status: 200,
    });
    await expect.poll(() => received.length, POLL).toBe(4);
    expect(await dead()).toEqual([]);
  });

  it('is given up at once by a receiver that is gone for good', async () => {
    answers.push(410);
    await acceptedId(agent, 'work', {}, callback());
    const list = () => request<{ webhooks: unknown[] }>(targetOf(gateway), 'GET', '/v1/admin/webhooks/dead');
    await expect.poll(async () => (await list()).body.webhooks, POLL).toMatchObject([{ attempts: 1 }]);
  });

  it('comes for a call that was cancelled while it waited, too', async () => {
    const id = await acceptedId(agent, 'work', { until: '/nowhere/at/all' }, callback());
    await callWhen(agent, id, ({ status }) => status === 'running');
    await request(agent, 'DELETE', `/v1/calls/${id}`);
    await expect.poll(() => received.length, POLL).toBe(1);
    expect(JSON.parse(received[0]?.body ?? '{}')).toMatchObject({
      data: { call_id: id, status: 'cancelled' },
    });
  });

  it.each([
    ['another host', 'https://evil.example/x'],
    ['another port', 'http://127.0.0.1:1/x'],
    ['the metadata service', 'http://169.254.169.254/latest'],
    ['a user in the URL', 'http://me@127.0.0.1/x'],
    ['another scheme', 'file:///etc/passwd'],
    ['no URL', 'nothing'],
  ])('to %s is refused before the call is accepted', async (_what, url) => {
    expect(await acceptCall(agent, 'work', {}, { callback: { url } })).toMatchObject({
      status: 400,
      body: { ok: false, error: { type: 'VALIDATION', reason: 'CALLBACK_NOT_ALLOWED' } },
    });
  });

  it('is refused for a call that is answered at once', async () => {
    const answer = await request(agent, 'POST', '/v1/tools/work/execute', { arguments: {}, ...callback() });
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'VALIDATION' } } });
  });
});

describe('without a list of hosts', () => {
  it('nobody is called back', async () => {
    const gateway = await startGateway({ tools: TOOLS });
    const answer = await acceptCall(
      targetOf(gateway, 'agent'),
      'work',
      {},
      { callback: { url: 'https://hooks.example/x' } },
    );
    expect(answer).toMatchObject({ status: 400, body: { error: { reason: 'CALLBACK_NOT_ALLOWED' } } });
    await gateway.stop();
  });
});
