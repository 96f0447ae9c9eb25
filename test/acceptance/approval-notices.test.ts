// Approvers hear of approvals: by signed messages to hooks, per group, as mails, and by a stream; also after a restart.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { serve } from '../../src/app/service/serve.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { signedHeaders } from '../../src/lib/secrets/webhook-signature.ts';
import { ask, decide } from '../helpers/approval-kit.ts';
import { acceptCall, eventsOf } from '../helpers/async-client.ts';
import { request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const KEY = Buffer.alloc(32, 7);
const POLL = { timeout: 15_000, interval: 20 };

interface Message {
  readonly type: string;
  readonly data: Record<string, unknown> & { readonly approval_id: string };
}

let dir: string;
let receiver: Server;
let gateway: RunningGateway;
let service: { restUrl: string; stop(): Promise<void> };
const received: { path: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
/** What the receiver answers next; then 200. */
const answers: number[] = [];
/** While it is set, the receiver answers 503 to whatever comes. */
let isAway = false;

const target = (name: string): RestTarget => ({ url: service.restUrl, key: gateway.key(name).key });

/** What a hook has heard of an approval, in order. */
const heard = (hook: string, { id }: { readonly id: string }) =>
  received
    .filter(({ path }) => path === `/${hook}`)
    .map(({ body }) => JSON.parse(body) as Message)
    .filter(({ data }) => data.approval_id === id);
const kindsOf = (hook: string, asked: { readonly id: string }) => heard(hook, asked).map(({ type }) => type);

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'act.js'), 'export const execute = () => null;\n');
  const tool = (name: string, approval: object) => ({
    name,
    description: 'Acts.',
    tool_type: 'javascript',
    input_schema: {
      type: 'object',
      properties: { note: { type: 'string' }, pin: { type: 'string', 'x-ute-sensitive': true } },
    },
    implementation_config: { handler: './act.js', trusted: true },
    extensions: { approval: { mode: 'always', ...approval } },
  });
  const tools = [tool('act', {}), tool('pay', { groups: ['finance'] }), tool('soon', { ttl_ms: 8_000 })];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
  receiver = createServer((incoming, answer) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
    incoming.on('end', () => {
      received.push({ path: incoming.url ?? '', headers: incoming.headers, body });
      answer.writeHead(isAway ? 503 : (answers.shift() ?? 200)).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const hook = (name: string, more: object = {}) => ({ name, url: `http://${host}/${name}`, ...more });
  const person = (user: string, roles: readonly string[]) => ({ tenant: 'acme', roles, user });
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    roles: { approver: ['approvals:decide'] },
    settings: {
      approvals: {
        groups: { finance: { users: ['cfo'] } },
        public_url: 'https://tools.example.com/gateway/',
        notify: [
          hook('all'),
          hook('umbrella', { tenants: ['umbrella', 'hooli'] }),
          hook('finance', { groups: ['finance'], events: ['asked'], email: ['cfo@example.com'] }),
        ],
      },
      webhooks: {
        allow_hosts: [host],
        allow_private: ['127.0.0.0/8'],
        allow_ports: ['1-65535'],
        allow_http: true,
        secret: `whsec_${KEY.toString('base64')}`,
        // So many that none is given up while the gateway is stopped and started.
        max_attempts: 20,
        base_delay_ms: 50,
      },
    },
    more: {
      ann: person('ann', ['agent']),
      boss: person('boss', ['approver']),
      eve: { tenant: 'umbrella', roles: ['agent'], user: 'eve' },
      cfo: person('cfo', ['approver']),
    },
  });
  service = gateway.service;
});
afterAll(async () => {
  await service?.stop();
  await gateway?.stop();
  receiver.close();
  removeDir(dir);
});
beforeEach(() => {
  received.length = 0;
  answers.length = 0;
});

describe('a hook', () => {
  it('is told what is asked and how it was decided, signed, with sensitive arguments masked', async () => {
    const asked = await ask(target('ann'), 'act', { note: 'n\u202e', pin: '4711' });
    await expect.poll(() => kindsOf('all', asked), POLL).toEqual(['approval.asked']);
    await decide(target('boss'), asked);
    await expect.poll(() => kindsOf('all', asked), POLL).toEqual(['approval.asked', 'approval.decided']);
    const { body, headers } = received[0]!;
    expect(body).not.toMatch(/4711|\u202e/);
    const [id, timestamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])];
    expect(headers).toMatchObject(signedHeaders({ id, timestamp, body }, [KEY]));
    const [first, last] = heard('all', asked);
    expect(first?.data).toMatchObject({
      tool: 'act',
      tenant_id: 'acme',
      approval_url: `https://tools.example.com/gateway/v1/approvals/${asked.id}`,
    });
    expect(last?.data).toMatchObject({ status: 'approved' });
    expect(first?.data).not.toHaveProperty('email');
  });

  it('of a group is told of what that group approves, and of the events it wants; with a mail that holds no arguments', async () => {
    const [act, pay] = [
      await ask(target('ann'), 'act', { note: 'one' }),
      await ask(target('ann'), 'pay', { note: 'two' }),
    ];
    await decide(target('cfo'), pay);
    await expect.poll(() => kindsOf('all', pay), POLL).toHaveLength(2);
    expect([kindsOf('finance', act), kindsOf('finance', pay)]).toEqual([[], ['approval.asked']]);
    const { email } = heard('finance', pay)[0]!.data as unknown as {
      email: { to: string[]; subject: string; text: string };
    };
    expect(email).toMatchObject({ to: ['cfo@example.com'], subject: 'Approval needed: pay' });
    expect(email.text).toContain(`https://tools.example.com/gateway/v1/approvals/${pay.id}`);
    expect(email.text).not.toContain('two');
  });

  it('of some tenants is told of theirs alone', async () => {
    const [theirs, others] = [
      await ask(target('eve'), 'act', { note: 'one' }),
      await ask(target('ann'), 'act', { note: 'two' }),
    ];
    await expect.poll(() => [...kindsOf('all', theirs), ...kindsOf('all', others)], POLL).toHaveLength(2);
    await expect.poll(() => kindsOf('umbrella', theirs), POLL).toEqual(['approval.asked']);
    expect(kindsOf('umbrella', others)).toEqual([]);
  });

  it('that fails is told again', async () => {
    answers.push(500, 500);
    const asked = await ask(target('ann'), 'act', {});
    await expect.poll(() => kindsOf('all', asked), POLL).toHaveLength(3);
    const ids = new Set(received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(1);
  });

  it('is told once that an approval expires soon', async () => {
    const asked = await ask(target('ann'), 'soon', {});
    await expect.poll(() => kindsOf('all', asked), POLL).toContain('approval.expiring');
    await new Promise((done) => setTimeout(done, 1_500));
    expect(kindsOf('all', asked)).toEqual(['approval.asked', 'approval.expiring']);
  });

  it('is told of a call that waits, and that its caller has cancelled it', async () => {
    const { body } = await acceptCall(target('ann'), 'act', {});
    const asked = { id: body.meta.approval_id ?? '' };
    await request(target('ann'), 'DELETE', `/v1/calls/${body.meta.call_id}`);
    await expect.poll(() => kindsOf('all', asked), POLL).toEqual(['approval.asked', 'approval.decided']);
    expect(heard('all', asked)[1]?.data).toMatchObject({ status: 'cancelled', call_id: body.meta.call_id });
  });
});

describe('the stream', () => {
  it('tells what happens, goes on from Last-Event-ID, and keeps to the group that is asked for', async () => {
    const all = '/v1/approvals/events';
    const boss = target('boss');
    const following = eventsOf(boss, all, { enough: 2 });
    // It begins with what happens from now on.
    await new Promise((done) => setTimeout(done, 300));
    const act = await ask(target('ann'), 'act', { pin: '4711' });
    await decide(boss, act);
    const told = await following;
    expect(told.map(({ event, data }) => [event, (data as { id: string }).id])).toEqual([
      ['asked', act.id],
      ['decided', act.id],
    ]);
    expect(JSON.stringify(told)).not.toContain('4711');
    const again = await eventsOf(boss, all, { after: told[0]!.id!, enough: 1 });
    expect(again[0]).toMatchObject({ id: told[1]!.id, event: 'decided' });
    const pay = await ask(target('ann'), 'pay', {});
    const ofGroup = await eventsOf(boss, `${all}?group=finance`, { after: told[1]!.id!, enough: 1 });
    expect(ofGroup[0]).toMatchObject({ event: 'asked', data: { id: pay.id } });
  });

  it('is for approvers alone', async () => {
    expect((await request(target('ann'), 'GET', '/v1/approvals/events')).status).toBe(403);
  });
});

it('what could not be delivered before a stop is delivered after the start, and the stop waits for nobody', async () => {
  isAway = true;
  const asked = await ask(target('ann'), 'act', {});
  await expect.poll(() => kindsOf('all', asked).length, POLL).toBeGreaterThan(0);
  const following = eventsOf(target('boss'), '/v1/approvals/events', { withinMs: 20_000 });
  await new Promise((done) => setTimeout(done, 200));
  const begun = performance.now();
  await service.stop();
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect((await following).at(-1)?.event).toBe('reconnect');
  const before = kindsOf('all', asked).length;
  isAway = false;
  service = await serve(
    loadSettings({ UTE_CONFIG: join(gateway.dir, 'gateway.yaml') }, gateway.dir),
    () => undefined,
  );
  await expect
    .poll(() => kindsOf('all', asked).length, { timeout: 40_000, interval: 20 })
    .toBeGreaterThan(before);
  const status = async () => {
    const text = await (await fetch((service as unknown as { metricsUrl: string }).metricsUrl)).text();
    return /ute_approval_notices_total\{outcome="delivered"\} [1-9]/.test(text);
  };
  await expect.poll(status, POLL).toBe(true);
});

it.each([
  [
    'a host that webhooks may not go to',
    { url: 'https://elsewhere.example/x' },
    /approvals.notify\[0\].url.*webhooks.allow_hosts/,
  ],
  ['a group that there is not', { groups: ['legal'] }, /no group of approvals.groups/],
])('a hook with %s is refused at the start', async (_what, more, message) => {
  const hook = { name: 'one', url: 'https://hooks.example/x', ...more };
  const settings = {
    approvals: { notify: [hook] },
    webhooks: { allow_hosts: ['hooks.example'], secret: `whsec_${KEY.toString('base64')}` },
  };
  await expect(startGateway({ tools: [join(dir, 'tools.yaml')], settings })).rejects.toThrow(message);
});
