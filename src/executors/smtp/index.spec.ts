// The smtp executor: what of a call becomes a message, to whom and by which server, and what a caller hears of it.
import { afterEach, describe, expect, it } from 'vitest';
import { callOf, functionOf, principalOf, recordingLog } from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ActionParameter } from '../../contract/tool/tool-spec.ts';
import {
  SmtpRefusal,
  type MailMessage,
  type MailReceipt,
  type SmtpServer,
} from '../../ports/egress/smtp-servers.ts';
import { smtpConnectionSchema } from './connection-schema.ts';
import { smtpExecutor } from './index.ts';

const SENT: { server: SmtpServer; message: MailMessage }[] = [];
let outcome: () => MailReceipt = () => ({ accepted: [], rejected: [], reply: '250 ok' });
afterEach(() => {
  SENT.length = 0;
  outcome = () => ({ accepted: [], rejected: [], reply: '250 ok' });
});

const executor = smtpExecutor.create({
  log: recordingLog(),
  smtpServers: {
    send: async (server, message) => {
      SENT.push({ server, message });
      return outcome();
    },
    close: async () => undefined,
  },
});

const MESSAGE = {
  connection: 'mail',
  from: 'desk@example.com',
  to: '{to}',
  subject: '{subject}',
  text: '{body}',
  recipients: { allow: ['@example.com'] },
};
const HOST = { host: 'smtp.example.com' };
const OWN = { host: '{config.smtp_server}', port: '{config.smtp_port}' };

function prepared(options: JsonObject = {}, connection: JsonObject = HOST) {
  const settings = { type: 'smtp', ...connection };
  smtpConnectionSchema.parse(settings);
  const read = smtpExecutor.optionsSchema.parse({ ...MESSAGE, ...options });
  return executor.prepare({
    function: functionOf(),
    options: read,
    connection: { name: 'mail', type: 'smtp', settings },
  });
}

const HELLO = { to: 'ann@example.com', subject: 'Hello', body: 'How are you?' };

async function sent(options: JsonObject = {}, args: JsonObject = HELLO, more: Partial<ToolCall> = {}) {
  const tool = await prepared(options);
  await tool.execute(callOf({ arguments: args, ...more }), () => {});
  const [{ message } = { message: undefined }] = SENT;
  if (message === undefined) throw new Error('nothing was sent');
  return message;
}

async function refused(
  options: JsonObject,
  args: JsonObject,
  more: Partial<ToolCall> = {},
): Promise<unknown> {
  const error = await sent(options, args, more).catch((each: unknown) => each);
  expect(SENT).toEqual([]);
  return error;
}

describe('a message', () => {
  it('is what the places of the declaration are filled with', async () => {
    const options = {
      from_name: 'The desk',
      cc: ['{copies}', 'office@example.com'],
      bcc: '{hidden}',
      reply_to: '{config.reply_to}',
      subject: 'Order {number}: {subject}',
      html: '<p>{body}</p>',
    };
    const args = {
      ...HELLO,
      to: 'ann@example.com, bob@EXAMPLE.com',
      copies: ['c@example.com'],
      number: 7,
      body: '<b>&',
    };
    expect(await sent(options, args, { config: { reply_to: 'desk@elsewhere.com' } })).toMatchObject({
      from: { address: 'desk@example.com', name: 'The desk' },
      to: ['ann@example.com', 'bob@example.com'],
      cc: ['c@example.com', 'office@example.com'],
      bcc: [],
      replyTo: ['desk@elsewhere.com'],
      subject: 'Order 7: Hello',
      text: '<b>&',
      html: '<p>&lt;b&gt;&amp;</p>',
      attachments: [],
    });
  });

  it('that is HTML alone has its text beside it', async () => {
    const options = { text: '{plain}', html: '{body}' };
    expect(await sent(options, { ...HELLO, body: '<p>One</p><p>Two</p>' })).toMatchObject({
      text: 'One\n\nTwo',
    });
  });

  it('has the id of the call, and of the idempotency key where there is one: for the same caller, agent and user alone', async () => {
    const id = async (more: Partial<ToolCall>) => {
      const { messageId } = await sent({}, HELLO, more);
      SENT.length = 0;
      return messageId;
    };
    const keyed = (more: object = {}) => ({ context: { tenantId: 'acme', idempotencyKey: 'k', ...more } });
    const all = [
      await id({ id: 'call-1' }),
      await id({ id: 'call-2' }),
      await id({ id: 'call-3', ...keyed() }),
      await id({ id: 'call-3', ...keyed({ agentId: 'desk' }) }),
      await id({ id: 'call-3', ...keyed(), principal: principalOf({ tenantId: 'other' }) }),
    ];
    expect(new Set(all).size).toBe(5);
    expect(await id({ id: 'call-1' })).toBe(all[0]);
    expect(await id({ id: 'call-9', ...keyed() })).toBe(all[2]);
    for (const each of all) expect(each).toMatch(/^<[0-9a-f]{40}@example\.com>$/);
  });
});

describe('arguments', () => {
  it.each<[string, JsonObject, string]>([
    ['a line end in the subject', { subject: 'Hello\r\nBcc: eve@example.com' }, '/subject'],
    ['another one', { subject: 'Hello\u2028Bcc: eve@example.com' }, '/subject'],
    ['a control character', { subject: 'Hello\u0085' }, '/subject'],
    ['NUL in the body', { body: 'a\0b' }, '/body'],
    ['half a character', { subject: '\ud800' }, '/subject'],
    ['a subject without end', { subject: 'x'.repeat(999) }, '/subject'],
    ['a name beside the address', { to: 'Ann <ann@example.com>' }, '/to'],
    ['a line end behind an address', { to: 'ann@example.com\n' }, '/to'],
    ['an object for an address', { to: { address: 'ann@example.com' } }, '/to'],
  ])('%s: VALIDATION that names the place, and nothing is sent', async (_, args, pointer) => {
    expect(await refused({}, { ...HELLO, ...args })).toMatchObject({
      type: 'VALIDATION',
      partialSideEffects: false,
      details: { violations: [{ pointer }] },
    });
  });

  it('what is wrong in several is told at once, in a list with its place', async () => {
    expect(
      await refused({ cc: '{cc}' }, { ...HELLO, subject: '\n', cc: ['a@example.com', 'b'] }),
    ).toMatchObject({
      details: { violations: [{ pointer: '/cc/1' }, { pointer: '/subject' }] },
    });
  });

  it('nobody to write to, and too many, are refused', async () => {
    expect(await refused({}, { subject: 'a', body: 'b' })).toMatchObject({ type: 'VALIDATION' });
    const many = Array.from({ length: 11 }, (_, n) => `a${n}@example.com`);
    expect(await refused({}, { ...HELLO, to: many })).toMatchObject({ type: 'VALIDATION' });
    expect((await sent({}, { ...HELLO, to: [...many.slice(1), 'a1@example.com'] })).to).toHaveLength(11);
  });

  it('attachments are files with a name, within the size that the operator says', async () => {
    const options = { attachments: '{files}', max_attachment_bytes: 4 };
    const file = { filename: 'a.txt', base64: 'YWJj', content_type: 'text/plain' };
    const { attachments } = await sent(options, { ...HELLO, files: [file] });
    expect(attachments).toEqual([
      { filename: 'a.txt', contentType: 'text/plain', content: Buffer.from('abc') },
    ]);
    SENT.length = 0;
    expect(await refused(options, { ...HELLO, files: [file, file] })).toMatchObject({
      type: 'PAYLOAD_TOO_LARGE',
      details: { max_bytes: 4 },
    });
    for (const wrong of [
      { filename: 'a/b' },
      { filename: 'a\r\nX: y' },
      { filename: 'invoice\u202efdp.exe' },
      { filename: '' },
      { base64: 'a b' },
      { base64: 'a' },
      { content_type: 'text/plain\r\nX: y' },
      { content_type: 'message/rfc822' },
      { content_type: 'multipart/mixed; boundary=x' },
    ])
      expect(await refused(options, { ...HELLO, files: [{ ...file, ...wrong }] })).toMatchObject({
        type: 'VALIDATION',
        details: { violations: [{ pointer: '/files/0' }] },
      });
    expect(await refused({ ...options, max_attachment_bytes: 0 }, { ...HELLO, files: [file] })).toMatchObject(
      {
        type: 'PAYLOAD_TOO_LARGE',
      },
    );
  });
});

describe('recipients', () => {
  it.each<[string[], string, boolean]>([
    [['ann@example.com'], 'Ann@Example.com', true],
    [['ann@example.com'], 'ann.eve@example.com', false],
    [['@example.com'], 'any@example.com', true],
    [['*@example.com'], 'any@example.com', true],
    [['@example.com'], 'any@a.example.com', false],
    [['@example.com'], 'any@evilexample.com', false],
    [['@example.com'], 'any@example.com.evil.com', false],
    [['@*.example.com'], 'any@a.b.example.com', true],
    [['@*.example.com'], 'any@example.com', false],
    [['@*.example.com'], 'any@evilexample.com', false],
    [['@größe.example'], 'any@xn--gre-6ka8i.example', true],
    [['own_domain'], 'any@example.com', true],
    [['own_domain'], 'any@other.com', false],
    [['*'], 'any@other.com', true],
    [['ann@other.com', '@example.com'], 'ann@other.com', true],
  ])('%j lets it write to %s: %s', async (allow, to, allowed) => {
    const options = { recipients: { allow } };
    const ended = await sent(options, { ...HELLO, to }).catch((error: unknown) => error);
    const refusal = {
      type: 'PERMISSION_DENIED',
      reason: 'RECIPIENT_NOT_ALLOWED',
      partialSideEffects: false,
      details: { recipients: [to] },
    };
    expect(ended).toMatchObject(allowed ? { subject: 'Hello' } : refusal);
    expect(SENT).toHaveLength(allowed ? 1 : 0);
  });

  it('copies and blind copies are held to the same, and one that is not allowed keeps it from all', async () => {
    for (const field of ['cc', 'bcc'])
      expect(
        await refused({ [field]: '{more}' }, { ...HELLO, more: ['x@example.com', 'eve@evil.com'] }),
      ).toMatchObject({
        reason: 'RECIPIENT_NOT_ALLOWED',
        details: { recipients: ['eve@evil.com'] },
      });
  });

  it('are held to for answers as well; what the operator names itself needs no leave', async () => {
    expect(await refused({ reply_to: '{more}' }, { ...HELLO, more: 'eve@evil.com' })).toMatchObject({
      reason: 'RECIPIENT_NOT_ALLOWED',
    });
    const fixed = {
      to: 'ops@other.com',
      cc: '{config.boss}',
      reply_to: 'desk@other.com',
      recipients: undefined,
    };
    const given = { config: { boss: 'boss@other.com' } };
    expect(await sent(fixed as unknown as JsonObject, HELLO, given)).toMatchObject({
      to: ['ops@other.com'],
      cc: ['boss@other.com'],
    });
  });

  it('of a connection hold besides, for everybody, and those of an agent are what is configured for it: nobody where that is nothing', async () => {
    const options = { recipients: { allow: ['{config.allowed}'] } };
    const narrow = await prepared(options, { ...HOST, allow_recipients: ['ann@example.com'] });
    const config = { allowed: ['*'] };
    const run = (to: string, given: JsonObject) =>
      Promise.resolve(narrow.execute(callOf({ arguments: { ...HELLO, to }, config: given }), () => {}));
    await run('ann@example.com', config);
    await expect(run('bob@example.com', config)).rejects.toMatchObject({ reason: 'RECIPIENT_NOT_ALLOWED' });
    await expect(run('ann@example.com', {})).rejects.toMatchObject({ reason: 'RECIPIENT_NOT_ALLOWED' });
    await expect(run('ann@example.com', { allowed: ['<b>'] })).rejects.toMatchObject({
      reason: 'TOOL_NOT_CONFIGURED',
    });
  });
});

describe('the server', () => {
  const serverOf = async (options: JsonObject, connection: JsonObject, more: Partial<ToolCall> = {}) => {
    const tool = await prepared(options, connection);
    await tool.execute(callOf({ arguments: HELLO, ...more }), () => {});
    return SENT.at(-1)?.server;
  };

  it.each<[JsonObject, JsonObject]>([
    [{}, { port: 587, security: 'starttls' }],
    [{ port: 465 }, { port: 465, security: 'tls' }],
    [{ security: 'tls' }, { port: 465, security: 'tls' }],
    [
      { port: 25, allow_ports: [25] },
      { port: 25, security: 'starttls' },
    ],
    [{ security: 'none' }, { port: 587, security: 'none' }],
  ])('of a connection %j is %j', async (said, expected) => {
    expect(await serverOf({}, { ...HOST, ...said })).toMatchObject({ host: 'smtp.example.com', ...expected });
  });

  it('of an agent is what is configured for it, under the connection’s rules, and its connections are its own', async () => {
    const options = { server: { ...OWN, user: '{config.user}', password: '{sensitive_config.key}' } };
    const own = (smtp_server: string, agentId = 'a') =>
      serverOf(
        options,
        {},
        {
          config: { smtp_server, smtp_port: 465, user: 'u' },
          sensitiveConfig: { key: 'k' },
          context: { tenantId: 'acme', agentId },
        },
      );
    const first = await own('Mail.Example.com');
    expect(first).toMatchObject({
      host: 'mail.example.com',
      port: 465,
      security: 'tls',
      account: { user: 'u', password: 'k' },
      egress: { allowHosts: [], allowPorts: [], allowPrivate: [], usualPorts: [465, 587] },
    });
    expect((await own('mail.example.com', 'b'))?.owner).not.toBe(first?.owner);
    // Whatever the spelling, it is judged as the address that it is.
    expect((await own('2130706433'))?.host).toBe('127.0.0.1');
    expect((await own('::ffff:169.254.169.254'))?.host).toBe('[::ffff:a9fe:a9fe]');
    for (const wrong of ['', 'a b', 'a/b', 'a:25', 'user@host', 'a\r\nb', 'a?b', 'http://a', '[::1', 'a#b'])
      await expect(own(wrong)).rejects.toMatchObject({ reason: 'TOOL_NOT_CONFIGURED' });
  });

  it('is never given the account of another one: what cannot go together is refused at load', async () => {
    const auth = { user: 'u', password: 'password' };
    const own = { server: { host: '{config.host}' } };
    const login = { server: { user: '{config.user}', password: '{sensitive_config.key}' } };
    for (const [options, connection, message] of [
      [own, { ...HOST, auth }, 'has a host'],
      [login, { ...HOST, auth }, 'second one'],
      [login, { ...HOST, security: 'none' }, 'in the clear'],
      [{}, {}, 'which mail server'],
    ] as const)
      expect(() => prepared(options, connection)).toThrow(message);
    for (const connection of [
      { auth },
      { ...HOST, auth, security: 'none' },
      { ...HOST, port: 25 },
      { ...HOST, port: 22 },
    ])
      expect(smtpConnectionSchema.safeParse({ type: 'smtp', ...connection }).success).toBe(false);
  });
});

describe('what an argument may never decide', () => {
  it.each<[string, JsonObject]>([
    ['who it is from', { from: '{to}' }],
    ['the name beside that', { from_name: 'By {subject}' }],
    ['the server', { server: { host: '{to}' } }],
    ['its port', { server: { port: '{to}' } }],
    ['the account', { server: { user: '{to}', password: '{sensitive_config.key}' } }],
    ['the password', { server: { user: '{config.user}', password: '{config.key}' } }],
    ['whom it may write to', { recipients: { allow: ['{to}'] } }],
    ['a secret in the message', { text: '{sensitive_config.key}' }],
    ['the same for an address', { to: '{sensitive_config.key}' }],
    ['a line end of the operator’s', { subject: 'a\nb' }],
    ['nobody at all', { recipients: { allow: [] } }],
    ['anybody, where nothing is said', { recipients: undefined as unknown as null }],
  ])('%s is refused at load', (_, options) => {
    expect(smtpExecutor.optionsSchema.safeParse({ ...MESSAGE, ...options }).success).toBe(false);
  });
});

describe('what a caller hears', () => {
  const refusing = async (...said: ConstructorParameters<typeof SmtpRefusal>) => {
    outcome = () => {
      throw new SmtpRefusal(...said);
    };
    return sent().catch((error: unknown) => error);
  };

  it.each([
    ['login', 535, '535 5.7.8 wrong password', 'AUTH', false],
    ['login', 454, '454 4.7.0 later', 'TRANSIENT', true],
    ['greeting', 421, '421 4.3.2 closing', 'TRANSIENT', true],
    ['greeting', 554, '554 no service', 'PERMANENT', false],
    ['sender', 550, '550 5.7.1 not yours', 'PERMISSION_DENIED', false],
    ['sender', 530, '530 5.7.0 log in first', 'AUTH', false],
    ['sender', 552, '552 5.3.4 too large', 'PAYLOAD_TOO_LARGE', false],
    ['recipients', 550, '550 5.1.1 no such user', 'NOT_FOUND', false],
    ['recipients', 550, '550 nobody', 'NOT_FOUND', false],
    ['recipients', 550, '550 5.7.1 relaying denied', 'PERMISSION_DENIED', false],
    ['recipients', 552, '552 5.2.2 full', 'PERMANENT', false],
    ['recipients', 450, '450 4.2.0 greylisted', 'TRANSIENT', true],
    ['recipients', 452, '452 4.5.3 too many', 'TRANSIENT', true],
    ['message', 554, '554 5.7.1 spam', 'PERMISSION_DENIED', false],
    ['message', 554, '554 transaction failed', 'PERMANENT', false],
    ['message', 552, '552 too large', 'PAYLOAD_TOO_LARGE', false],
    ['message', 451, '451 4.3.0 try later', 'TRANSIENT', true],
    ['message', 503, '503 out of order', 'TRANSIENT', true],
  ] as const)('of %s %i: %s is %s', async (stage, code, reply, type, retryable) => {
    expect(await refusing(stage, code, reply)).toMatchObject({
      type,
      reason: `SMTP_${code}`,
      origin: 'tool',
      retryable,
      partialSideEffects: false,
      details: { stage, code },
    });
  });

  it('the server’s words are bounded, on one line, without what is not seen, and marked as nobody’s', async () => {
    const reply = `550-5.1.1 First\n550 5.1.1 second \u200b${'x'.repeat(1_000)}`;
    const error = await refusing('message', 550, reply);
    expect(error).toMatchObject({
      details: {
        enhanced_code: '5.1.1',
        upstream: { untrusted: true, message: expect.stringMatching(/^First second x{280,}$/) },
      },
    });
    const hidden = await prepared({ upstream_errors: 'hide' });
    const said = await Promise.resolve(hidden.execute(callOf({ arguments: HELLO }), () => {})).catch(
      (each: unknown) => each,
    );
    expect(JSON.stringify(said) + String(said)).not.toContain('First');
  });

  it('each recipient who was refused is told apart: for good, or for now', async () => {
    outcome = () => ({
      accepted: ['ann@example.com'],
      rejected: [
        { address: 'b@example.com', code: 550, reply: '550 5.1.1 no' },
        { address: 'c@example.com', code: 450, reply: '450 later' },
      ],
      reply: '250 ok',
    });
    const tool = await prepared();
    const { data } = await tool.execute(callOf({ arguments: HELLO }), () => {});
    expect(data).toEqual({
      message_id: expect.stringMatching(/^<.*@example.com>$/),
      accepted: ['ann@example.com'],
      rejected: [
        {
          recipient: 'b@example.com',
          permanent: true,
          code: 550,
          enhanced_code: '5.1.1',
          upstream: { untrusted: true, message: 'no' },
        },
        {
          recipient: 'c@example.com',
          permanent: false,
          code: 450,
          upstream: { untrusted: true, message: 'later' },
        },
      ],
    });
  });
});

it('a dry run shows the message and its server, sends nothing, and shows no password', async () => {
  const auth = { user: 'desk', password: 'desk-password-1' };
  const tool = await prepared({}, { ...HOST, auth });
  const shown = await tool.render?.(callOf({ arguments: HELLO }));
  expect(shown).toMatchObject({
    server: { host: 'smtp.example.com', port: 587, security: 'starttls', user: 'desk' },
    to: ['ann@example.com'],
    subject: 'Hello',
  });
  expect(JSON.stringify(shown)).not.toContain(auth.password);
  expect(SENT).toEqual([]);
  expect(tool.upstream).toBe('smtp:smtp.example.com:587');
});

it('actions have a message each', async () => {
  const { from, to, subject, text, ...rest } = MESSAGE;
  const options = smtpExecutor.optionsSchema.parse({
    ...rest,
    actions: { send: { from, to, subject, text } },
  });
  const parameters: readonly ActionParameter[] = [];
  const action = { name: 'send', description: 'Sends', parameters };
  const target = { options, connection: { name: 'mail', type: 'smtp', settings: { type: 'smtp', ...HOST } } };
  const tool = await executor.prepare({ ...target, function: { ...functionOf(), action } });
  await tool.execute(callOf({ arguments: HELLO }), () => {});
  expect(SENT).toHaveLength(1);
  expect(() => executor.prepare({ ...target, function: functionOf() })).toThrow('declares no actions');
  expect(() =>
    executor.prepare({ ...target, function: { ...functionOf(), action: { ...action, name: 'x' } } }),
  ).toThrow('no message for the action "x"');
});
