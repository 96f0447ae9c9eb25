// The pack `email` (C6) against a mail server with TLS and accounts: the seed's fields and configuration, and what an enemy makes of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  ANY_MESSAGE,
  parsed,
  scriptedMailServer,
  startMailServer,
  type MailServer,
} from '../helpers/mail-server.ts';
import { request, sendTo, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const PASSWORD = 'desk-password-1';
const HELLO = { to: 'ann@example.com', subject: 'Your booking', body: 'See you at ten.' };

interface Answer {
  readonly ok: boolean;
  readonly data: {
    readonly message_id: string;
    readonly accepted: string[];
    readonly rejected: { recipient: string; permanent: boolean }[];
  };
  readonly error?: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
}

let dir: string;
let server: MailServer;
let gateway: RunningGateway;
let caller: RestTarget;
let boss: RestTarget;

beforeAll(async () => {
  server = await startMailServer();
  server.accounts.set('desk@example.com', PASSWORD);
  dir = tempDir();
  const mail = {
    type: 'smtp',
    tls: { ca: server.ca },
    allow_private: ['127.0.0.0/8'],
    allow_ports: ['1-65535'],
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections: { stand_in: mail } }));
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        { type: 'pack', name: 'email', connections: { mail: 'stand_in' } },
      ],
    },
    more: {
      boss: { tenant: 'acme', roles: ['admin'] },
      caller: { tenant: 'acme', roles: ['agent'], agents: ['*'] },
    },
  });
  caller = gateway.key('caller');
  boss = gateway.key('boss');
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
  await server?.close();
});

let count = 0;
let desk: string;

beforeEach(async () => {
  desk = await agent(`desk-${(count += 1)}`);
  server.mails.length = 0;
  server.logins.length = 0;
  server.refuses.clear();
  server.beforeAnswer = async () => undefined;
});

/** Each has a quota of its own. */
async function agent(name: string, config: object = {}, secrets: object = {}): Promise<string> {
  await request(boss, 'POST', '/v1/agents', { name });
  const { status, body } = await request(boss, 'PUT', `/v1/agents/${name}/tools/email`, {
    config: { smtp_server: 'localhost', smtp_port: server.port, from_email: 'desk@example.com', ...config },
    sensitive_config: { api_key: PASSWORD, ...secrets },
  });
  if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  return name;
}

async function send(said: object = {}, name = desk, context: object = {}): Promise<Answer> {
  const { body } = await sendTo<Answer>(caller, 'POST', '/v1/tools/email.send_email/execute', {
    arguments: { ...HELLO, ...said },
    context: { agent_id: name, ...context },
  });
  return body;
}

async function metrics(): Promise<string> {
  return (await fetch(gateway.service.metricsUrl)).text();
}

describe('C6 Email: send_email over SMTP', () => {
  it('sends subject and body to the recipient, from from_email over smtp_server, as the seed says', async () => {
    const { ok, data } = await send();
    expect({ ok, data }).toEqual({
      ok: true,
      data: {
        message_id: expect.stringMatching(/^<[0-9a-f]{40}@example\.com>$/),
        accepted: ['ann@example.com'],
        rejected: [],
      },
    });
    const [mail] = server.mails;
    if (mail === undefined) throw new Error('nothing came');
    expect(mail).toMatchObject({ user: 'desk@example.com', isSecure: true, to: ['ann@example.com'] });
    const { subject, text, from, messageId } = await parsed(mail);
    expect({ subject, text: text?.trim(), from: from?.text, messageId }).toEqual({
      subject: HELLO.subject,
      text: HELLO.body,
      from: 'desk@example.com',
      messageId: data.message_id,
    });
  });

  it('is one function with to, subject and body required, of a tool whose smtp_port is 587 where nothing is said', async () => {
    const { body: tool } = await request<{ input_schema: Record<string, unknown> }>(
      caller,
      'GET',
      `/v1/tools/email.send_email?agent_id=${desk}`,
    );
    expect(tool.input_schema).toMatchObject({
      required: ['to', 'subject', 'body'],
      properties: {
        to: { type: 'string', description: expect.stringContaining('Recipient email address') },
        subject: { type: 'string', description: 'Email subject' },
        body: { type: 'string', description: 'Email body content' },
      },
    });
    const { body: form } = await request<{ schema: { properties: Record<string, unknown> } }>(
      boss,
      'GET',
      `/v1/agents/${desk}/tools/email/config-form`,
    );
    expect(form.schema.properties).toMatchObject({
      smtp_server: { type: 'string' },
      smtp_port: { type: 'integer', default: 587 },
      from_email: { type: 'string' },
    });
  });

  it('asks for its credential as the seed does: without api_key nobody is configured', async () => {
    await request(boss, 'POST', '/v1/agents', { name: 'bare' });
    const { status, body } = await request<{ reason: string }>(boss, 'PUT', '/v1/agents/bare/tools/email', {
      config: { smtp_server: 'localhost', from_email: 'desk@example.com' },
    });
    expect({ status, body }).toMatchObject({ status: 400, body: { reason: 'CONFIG_MISMATCH' } });
    expect((await send({}, 'bare')).error).toMatchObject({ reason: 'TOOL_NOT_CONFIGURED' });
  });

  it('still answers {action, details} of older callers', async () => {
    const details = JSON.stringify({ ...HELLO, subject: 'Of old' });
    const { body } = await sendTo<Answer>(caller, 'POST', '/v1/tools/email/execute', {
      arguments: { action: 'send_email', details },
      context: { agent_id: desk },
    });
    expect(body).toMatchObject({ ok: true, meta: { successor: 'email.send_email' } });
    expect(server.mails).toHaveLength(1);
  });

  it('sends copies, blind copies, HTML and attachments', async () => {
    await send({
      to: 'ann@example.com, bob@example.com',
      cc: ['carl@example.com'],
      bcc: ['dora@example.com'],
      reply_to: 'office@example.com',
      html: '<p>See you at <b>ten</b>.</p>',
      attachments: [{ filename: 'größe.pdf', base64: 'JVBERi0=', content_type: 'application/pdf' }],
    });
    const [mail] = server.mails;
    if (mail === undefined) throw new Error('nothing came');
    expect(mail.to).toEqual(['ann@example.com', 'bob@example.com', 'carl@example.com', 'dora@example.com']);
    expect(mail.raw.toString()).not.toContain('dora');
    const { html, replyTo, cc, attachments } = await parsed(mail);
    expect({ html, replyTo: replyTo?.text, cc: [cc].flat()[0]?.text }).toEqual({
      html: '<p>See you at <b>ten</b>.</p>',
      replyTo: 'office@example.com',
      cc: 'carl@example.com',
    });
    expect(attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ['größe.pdf', '%PDF-'],
    ]);
  });
});

describe('the same idempotency key', () => {
  it('sends once, and answers the same: also where nobody knows whether the message was taken', async () => {
    await agent('once');
    const key = { idempotency_key: 'order-1' };
    const first = await send({}, 'once', key);
    expect(await send({}, 'once', key)).toMatchObject({ data: first.data, meta: { replayed: true } });
    expect(server.mails).toHaveLength(1);

    server.beforeAnswer = () => {
      server.drop();
      return new Promise(() => {});
    };
    const lost = await send({}, 'once', { idempotency_key: 'order-2' });
    expect(lost.error).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'DELIVERY_UNKNOWN',
      retryable: false,
      partial_side_effects: true,
    });
    server.beforeAnswer = async () => undefined;
    expect(await send({}, 'once', { idempotency_key: 'order-2' })).toMatchObject({
      error: { reason: 'DELIVERY_UNKNOWN' },
      meta: { replayed: true },
    });
    expect(server.mails).toHaveLength(2);
  });
});

describe('what the server says', () => {
  it.each([
    [
      '550 5.1.1 no such user',
      'ann@example.com',
      { type: 'NOT_FOUND', reason: 'SMTP_550', retryable: false },
    ],
    ['450 4.2.1 try later', 'ann@example.com', { type: 'TRANSIENT', reason: 'SMTP_450', retryable: true }],
    ['550 5.7.1 not your address', 'desk@example.com', { type: 'PERMISSION_DENIED', reason: 'SMTP_550' }],
    ['554 5.7.1 spam', ANY_MESSAGE, { type: 'PERMISSION_DENIED', reason: 'SMTP_554' }],
    ['552 5.3.4 too large', ANY_MESSAGE, { type: 'PAYLOAD_TOO_LARGE', reason: 'SMTP_552' }],
    ['451 4.3.0 later', ANY_MESSAGE, { type: 'TRANSIENT', reason: 'SMTP_451' }],
  ])('%s of %s is told apart, with nothing sent', async (said, of, expected) => {
    server.refuses.set(of, said);
    expect((await send()).error).toMatchObject({ ...expected, origin: 'tool', partial_side_effects: false });
    expect(server.mails).toEqual([]);
  });

  it('one bounced recipient of several is told with its reason, and the others have their message', async () => {
    server.refuses.set('bob@example.com', '550 5.1.1 no such user');
    expect(await send({ to: 'ann@example.com, bob@example.com' })).toMatchObject({
      ok: true,
      data: {
        accepted: ['ann@example.com'],
        rejected: [
          {
            recipient: 'bob@example.com',
            permanent: true,
            code: 550,
            enhanced_code: '5.1.1',
            upstream: { untrusted: true, message: 'no such user' },
          },
        ],
      },
    });
  });

  it('a password that it repeats in its answer reaches nobody', async () => {
    server.refuses.set('ann@example.com', `550 ${PASSWORD} is a fine password`);
    const { error } = await send();
    expect(JSON.stringify(error)).toContain('is a fine password');
    expect(JSON.stringify(error)).not.toContain(PASSWORD);
  });
});

describe('an enemy', () => {
  it.each([
    { subject: 'a\r\nBcc: eve@evil.com' },
    { subject: 'a\nBcc: eve@evil.com' },
    { subject: 'a\u2028Bcc: eve@evil.com' },
    { subject: 'a\u0085Bcc: eve@evil.com' },
    { to: 'ann@example.com\r\nRCPT TO:<eve@evil.com>' },
    { to: 'ann@example.com>\r\nDATA' },
    { to: '"ann@example.com,eve"@example.com' },
    { to: '@example.com:eve@evil.com' },
    { to: 'eve(@example.com)@evil.com' },
    { to: 'ann@example.com <eve@evil.com>' },
    { to: '<eve@evil.com>ann@example.com' },
    { to: 'eve@evil.com%00@example.com' },
    { to: 'eve@[127.0.0.1]' },
    { to: 'eve%evil.com@example.com' },
    { to: 'evil.com!eve@example.com' },
    { bcc: ['=?utf-8?q?eve=40evil.com?=@example.com'] },
    { cc: ['ann@example.com', 'a@example.com\nX: y'] },
    { reply_to: 'ann@example.com\r\nX-Evil: yes' },
    { attachments: [{ filename: 'a"\r\nX: y', base64: '' }] },
    { attachments: [{ filename: 'a', base64: '', content_type: 'text/plain; x="\r\nX: y"' }] },
    { attachments: [{ filename: 'a', base64: '', path: '/etc/passwd' }] },
    { attachments: [{ filename: 'a', href: 'http://169.254.169.254/' }] },
    { html: { path: '/etc/passwd' } },
    { body: { href: 'http://127.0.0.1/' } },
    { from: 'boss@example.com' },
    { smtp_server: 'evil.com' },
  ])('gets nothing sent with %j', async (said) => {
    expect((await send(said)).error).toMatchObject({ type: 'VALIDATION' });
    expect(server.mails).toEqual([]);
  });

  it('among the recipients is refused where nobody allowed it, also for answers, and by any spelling', async () => {
    for (const said of [
      { to: 'eve@evil.com' },
      { to: 'ann@example.com, eve@evil.com' },
      { bcc: ['eve@evil.com'] },
      { reply_to: 'eve@evil.com' },
      { to: 'eve@sub.example.com' },
      { to: 'eve@example.com.evil.com' },
      { to: 'eve@exаmple.com' },
    ])
      expect((await send(said)).error).toMatchObject({
        type: 'PERMISSION_DENIED',
        reason: 'RECIPIENT_NOT_ALLOWED',
      });
    await agent('open', { allowed_recipients: ['@*.example.com', 'eve@evil.com'] });
    expect((await send({ to: 'eve@evil.com, b@sub.example.com' }, 'open')).ok).toBe(true);
    expect((await send({ to: 'ann@example.com' }, 'open')).error).toMatchObject({
      reason: 'RECIPIENT_NOT_ALLOWED',
    });
    expect(server.mails).toHaveLength(1);
  });

  it.each([
    ['169.254.169.254', 587],
    ['::ffff:169.254.169.254', 587],
    ['[::ffff:a9fe:a9fe]', 587],
    ['2852039166', 587],
    ['10.0.0.1', 587],
    ['0.0.0.0', 587],
  ])(
    'that configures the mail server %s is let to no address that is not public',
    async (smtp_server, smtp_port) => {
      await agent('elsewhere', { smtp_server, smtp_port });
      expect((await send({}, 'elsewhere')).error).toMatchObject({
        reason: 'EGRESS_DENIED',
        partial_side_effects: false,
      });
    },
  );

  it('with the address of another agent does not get over its connections', async () => {
    await agent('first');
    await send({}, 'first');
    await agent('thief', {}, { api_key: 'not-the-password' });
    expect((await send({}, 'thief')).error).toMatchObject({ type: 'AUTH', reason: 'SMTP_535' });
    await agent('second');
    await send({}, 'second');
    const [one, two] = server.mails;
    expect(two?.session).not.toBe(one?.session);
    expect(server.mails).toHaveLength(2);
  });

  it('that calls 50 times at once has what the quota of its agent lets it, and others theirs', async () => {
    await agent('flood');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send({ subject: String(n) }, 'flood')),
    );
    const refused = answers.filter(({ ok }) => !ok);
    expect(server.mails).toHaveLength(20);
    expect(refused).toHaveLength(30);
    for (const { error } of refused)
      expect(error).toMatchObject({ type: 'RATE_LIMIT', partial_side_effects: false });
    expect((await send({}, 'calm', {})).error).toMatchObject({ reason: 'TOOL_NOT_CONFIGURED' });
    await agent('calm');
    expect((await send({}, 'calm')).ok).toBe(true);
  });

  it('with files beyond the limit gets nothing sent', async () => {
    const base64 = Buffer.alloc(190_000).toString('base64');
    const attachments = Array.from({ length: 4 }, (_, n) => ({ filename: `${n}.bin`, base64 }));
    expect((await send({ attachments: attachments.slice(0, 2) })).ok).toBe(true);
    expect((await send({ attachments: [{ filename: 'a', base64: base64 + base64 }] })).error).toMatchObject({
      type: 'VALIDATION',
    });
    expect(server.mails).toHaveLength(1);
  });
});

it('a server that hangs behind the message takes the caller’s time and no more: TIMEOUT, nobody else waits', async () => {
  await agent('patient');
  server.beforeAnswer = ({ raw }) => (raw.includes('Hang') ? new Promise(() => {}) : Promise.resolve());
  const waiting = sendTo<Answer>(
    caller,
    'POST',
    '/v1/tools/email.send_email/execute',
    { arguments: { ...HELLO, subject: 'Hang' }, context: { agent_id: 'patient' } },
    { 'x-request-timeout-ms': '5000' },
  );
  await expect.poll(() => server.mails.length).toBe(1);
  expect((await send({}, 'patient')).ok).toBe(true);
  expect((await waiting).body.error).toMatchObject({ type: 'TIMEOUT', partial_side_effects: true });
});

it('a server that is silent before it has the message has nothing of it, and the answer says so', async () => {
  const silent = await scriptedMailServer(() => undefined);
  try {
    await agent('unheard', { smtp_port: silent.port });
    const { body } = await sendTo<Answer>(
      caller,
      'POST',
      '/v1/tools/email.send_email/execute',
      { arguments: HELLO, context: { agent_id: 'unheard' } },
      { 'x-request-timeout-ms': '1000' },
    );
    expect(body.error).toMatchObject({ type: 'TIMEOUT', partial_side_effects: false });
  } finally {
    await silent.close();
  }
});

it('a dry run shows the message and where it would go, without the password', async () => {
  const { data } = await send({}, desk, { dry_run: true });
  expect(data).toMatchObject({
    dry_run: true,
    would: {
      server: { host: 'localhost', port: server.port, security: 'starttls', user: 'desk@example.com' },
      to: ['ann@example.com'],
    },
  });
  expect(JSON.stringify(data)).not.toContain(PASSWORD);
  expect(server.mails).toEqual([]);
});

it('messages and connections are counted by how they ended', async () => {
  const text = await metrics();
  expect(text).toMatch(/^ute_smtp_messages_total\{outcome="accepted"\} [1-9]/m);
  expect(text).toMatch(/^ute_smtp_messages_total\{outcome="unknown"\} 1$/m);
  expect(text).toMatch(/^ute_smtp_connects_total\{outcome="ok"\} [1-9]/m);
});
