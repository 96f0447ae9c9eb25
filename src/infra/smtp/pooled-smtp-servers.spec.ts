// Mail servers: how the gateway speaks to them, whom it speaks to at all, whose connections they are, and what failed means.
import { afterEach, describe, expect, it } from 'vitest';
import { FakeOutside } from '../../../test/helpers/fake-outside.ts';
import {
  ANY_MESSAGE,
  parsed,
  scriptedMailServer,
  startMailServer,
  taking,
} from '../../../test/helpers/mail-server.ts';
import { RecordingMetrics } from '../../../test/helpers/python-ports.ts';
import { selfSignedCertificate } from '../../../test/helpers/self-signed-certificate.ts';
import type { MailMessage, SmtpServer } from '../../ports/egress/smtp-servers.ts';
import { PooledSmtpServers } from './pooled-smtp-servers.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
async function kept<Server extends { close(): Promise<void> }>(starting: Promise<Server>): Promise<Server> {
  const started = await starting;
  open.push(started);
  return started;
}
const mailServer = (...said: Parameters<typeof startMailServer>) => kept(startMailServer(...said));
const scripted = (...said: Parameters<typeof scriptedMailServer>) => kept(scriptedMailServer(...said));

function bench(outside?: FakeOutside, mostPools?: number) {
  const metrics = new RecordingMetrics();
  const servers = new PooledSmtpServers(metrics, {
    ...(outside !== undefined && { outside }),
    ...(mostPools !== undefined && { mostPools }),
  });
  open.unshift(servers);
  const send = (
    server: SmtpServer,
    message: Partial<MailMessage> = {},
    signal = new AbortController().signal,
    onWaiting?: (why: () => unknown) => void,
  ) => servers.send(server, messageOf(message), { signal, ...(onWaiting !== undefined && { onWaiting }) });
  return { servers, metrics, send };
}

function messageOf(more: Partial<MailMessage> = {}): MailMessage {
  return {
    messageId: '<one@example.com>',
    from: { address: 'desk@example.com', name: 'The desk' },
    to: ['ann@example.com'],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Hello',
    text: 'How are you?',
    attachments: [],
    ...more,
  };
}

function at(port: number, more: Partial<SmtpServer> = {}): SmtpServer {
  return {
    host: '127.0.0.1',
    port,
    security: 'none',
    egress: { allowHosts: [], allowPorts: [port], allowPrivate: ['127.0.0.0/8'], usualPorts: [465, 587] },
    clientName: '[127.0.0.1]',
    maxConnections: 2,
    owner: '',
    ...more,
  };
}

const ACCOUNT = { user: 'desk', password: 'desk-password-1' };
const NOTHING_SENT = { partialSideEffects: false };

describe('a message', () => {
  it.each([
    ['TLS from the first byte on', { secure: true }, 'tls'],
    ['STARTTLS', {}, 'starttls'],
  ] as const)('is handed over by %s, behind a login', async (_, options, security) => {
    const server = await mailServer(options);
    const { send, metrics } = bench();
    const receipt = await send(at(server.port, { security, ca: server.ca, account: ACCOUNT }), {
      cc: ['bob@example.com'],
      bcc: ['eve@example.com'],
      replyTo: ['office@example.com'],
      html: '<p>How are <b>you</b>?</p>',
      attachments: [
        { filename: 'größe.bin', contentType: 'image/png', content: Buffer.from([0, 255, 10, 13]) },
      ],
    });
    const to = ['ann@example.com', 'bob@example.com', 'eve@example.com'];
    expect(receipt).toMatchObject({
      accepted: to,
      rejected: [],
      reply: expect.stringContaining('queued as 4711'),
    });
    const [mail] = server.mails;
    expect(mail).toMatchObject({ user: 'desk', isSecure: true, from: 'desk@example.com', to });
    if (mail === undefined) throw new Error('nothing came');
    const { headers, text, html, attachments, messageId } = await parsed(mail);
    expect([...headers.keys()].toSorted()).toEqual([
      'cc',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'reply-to',
      'subject',
      'to',
    ]);
    expect({ messageId, text, html }).toEqual({
      messageId: '<one@example.com>',
      text: 'How are you?',
      html: '<p>How are <b>you</b>?</p>',
    });
    expect(
      attachments.map(({ filename, contentType, content }) => [filename, contentType, [...content]]),
    ).toEqual([['größe.bin', 'image/png', [0, 255, 10, 13]]]);
    expect(mail.raw.toString()).not.toContain('eve@');
    expect(metrics.values.get('ute_smtp_messages_total{accepted}')).toBe(1);
  });

  it('that some recipients are refused is for the others, and says who was refused and how', async () => {
    const server = await mailServer();
    server.refuses
      .set('gone@example.com', '550 5.1.1 no such user')
      .set('full@example.com', '452 4.2.2 mailbox full');
    const { send, metrics } = bench();
    const to = ['ann@example.com', 'gone@example.com', 'full@example.com'];
    expect(
      await send(at(server.port, { security: 'starttls', ca: server.ca, account: ACCOUNT }), { to }),
    ).toMatchObject({
      accepted: ['ann@example.com'],
      rejected: [
        { address: 'gone@example.com', code: 550, reply: expect.stringContaining('5.1.1 no such user') },
        { address: 'full@example.com', code: 452 },
      ],
    });
    expect(server.mails.map((mail) => mail.to)).toEqual([['ann@example.com']]);
    expect(metrics.values.get('ute_smtp_messages_total{partly_accepted}')).toBe(1);
  });

  it('with lines that end a message, or begin with a dot, arrives as it was written', async () => {
    const server = await mailServer();
    const text = 'a\n.\nb\r\n.\r\nMAIL FROM:<eve@example.com>\r\n..c\rd\n' + 'long '.repeat(400);
    await bench().send(at(server.port, { security: 'starttls', ca: server.ca, account: ACCOUNT }), { text });
    expect(server.mails).toHaveLength(1);
    const [mail] = server.mails;
    const read = mail === undefined ? undefined : (await parsed(mail)).text;
    expect(read?.trimEnd()).toBe(text.replaceAll(/\r\n|\r/g, '\n').trimEnd());
  });
});

describe('TLS', () => {
  it('a server that has no STARTTLS, or that somebody took it from, is told neither account nor message', async () => {
    for (const answer of [
      taking(),
      taking((line) => (line === 'STARTTLS' ? '454 not now\r\n' : undefined)),
      taking((line) => (line.startsWith('EHLO') ? '502 what?\r\n' : undefined)),
    ]) {
      const server = await scripted(answer);
      await expect(
        bench().send(at(server.port, { security: 'starttls', account: ACCOUNT })),
      ).rejects.toMatchObject({ type: 'UNAVAILABLE', ...NOTHING_SENT });
      expect(server.lines.filter((line) => /^(?:AUTH|MAIL|DATA)/.test(line))).toEqual([]);
    }
  });

  it('what comes in the clear behind the answer to STARTTLS is nobody’s answer', async () => {
    const server = await scripted(
      taking((line) =>
        line === 'STARTTLS' ? '220 go\r\n250-evil\r\n250 AUTH PLAIN\r\n235 welcome\r\n' : undefined,
      ),
    );
    await expect(
      bench().send(at(server.port, { security: 'starttls', account: ACCOUNT })),
    ).rejects.toMatchObject({ type: 'UNAVAILABLE', ...NOTHING_SENT });
    expect(server.lines.join('\n')).not.toMatch(/AUTH|MAIL/);
  });

  it('trusts the CA that is said for the name that is said, and nobody else, whatever the environment says', async () => {
    const server = await mailServer({ secure: true });
    const other = selfSignedCertificate().cert.toString();
    const secured = { security: 'tls', account: ACCOUNT } as const;
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      for (const more of [{}, { ca: other }, { ca: server.ca, serverName: 'other.test' }])
        await expect(bench().send(at(server.port, { ...secured, ...more }))).rejects.toMatchObject({
          reason: 'CONNECT_FAILED',
          ...NOTHING_SENT,
        });
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    expect([server.logins, server.mails]).toEqual([[], []]);
    await bench().send(at(server.port, { ...secured, ca: server.ca, serverName: 'localhost' }));
    expect(server.mails).toHaveLength(1);
  });
});

describe('an address', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['private', '10.0.0.1'],
    ['a metadata service', '169.254.169.254'],
    ['loopback in IPv6', '[::1]'],
    ['loopback mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['a metadata service mapped into IPv6', '[::ffff:169.254.169.254]'],
    ['nobody’s', '0.0.0.0'],
    ['loopback by another spelling', '2130706433'],
  ])('that is %s is not reached unless its range is allowed', async (_, host) => {
    const server = await scripted(taking());
    const egress = { allowHosts: [], allowPorts: [server.port], allowPrivate: [] };
    await expect(bench().send(at(server.port, { host, egress }))).rejects.toMatchObject({
      type: 'PERMANENT',
      reason: 'EGRESS_DENIED',
      ...NOTHING_SENT,
    });
    expect(server.lines).toEqual([]);
  });

  it('of a name is looked up by the gateway’s own resolver, looked at in every answer, and dialled as it was checked', async () => {
    const server = await scripted(taking());
    const outside = new FakeOutside()
      .name('mail.example.com', '127.0.0.1')
      .name('evil.example.com', '93.184.216.34', '169.254.169.254');
    const { send } = bench(outside);
    await send(at(server.port, { host: 'mail.example.com' }));
    expect(outside.dialled).toEqual([
      { hostname: 'mail.example.com', addresses: ['127.0.0.1'], port: server.port },
    ]);
    await expect(send(at(server.port, { host: 'evil.example.com' }))).rejects.toMatchObject({
      reason: 'EGRESS_DENIED',
    });
    await expect(send(at(server.port, { host: 'nowhere.example.com' }))).rejects.toMatchObject({
      reason: 'CONNECT_FAILED',
      ...NOTHING_SENT,
    });
    expect(outside.dialled).toHaveLength(1);
  });

  it('is not even looked up for a port other than those of submission that nobody lists', async () => {
    const outside = new FakeOutside().name('mail.example.com', '127.0.0.1');
    const egress = { allowHosts: [], allowPrivate: ['127.0.0.0/8'], usualPorts: [465, 587] };
    for (const port of [22, 25, 80, 443, 6379])
      await expect(bench(outside).send(at(port, { host: 'mail.example.com', egress }))).rejects.toMatchObject(
        { reason: 'EGRESS_DENIED' },
      );
    expect([outside.asked, outside.dialled]).toEqual([[], []]);
  });
});

describe('connections', () => {
  it('are kept and used again, by their owner and account alone', async () => {
    const server = await mailServer();
    server.accounts.set('other', 'other-password-1');
    const { send } = bench();
    const secured = { security: 'starttls', ca: server.ca, account: ACCOUNT } as const;
    const desk = at(server.port, { ...secured, owner: 'desk' });
    for (const each of [
      desk,
      desk,
      at(server.port, { ...secured, owner: 'night' }),
      at(server.port, {
        ...secured,
        owner: 'desk',
        account: { user: 'other', password: 'other-password-1' },
      }),
    ])
      await send(each);
    const [first, again, ...others] = server.mails.map(({ session }) => session);
    expect(again).toBe(first);
    expect(new Set([first, ...others]).size).toBe(3);
    expect(server.mails.map(({ user }) => user)).toEqual(['desk', 'desk', 'desk', 'other']);
    // The right user with a wrong password is nobody, however many connections of the right one are open.
    await expect(
      send(at(server.port, { ...secured, owner: 'desk', account: { user: 'desk', password: 'wrong' } })),
    ).rejects.toMatchObject({ name: 'SmtpRefusal', stage: 'login', code: 535 });
    expect(server.mails).toHaveLength(4);
  });

  it('are no more than said, and what waits for one goes out in turn', async () => {
    const server = await mailServer();
    let most = 0;
    server.beforeAnswer = async () => void (most = Math.max(most, server.connections()));
    const { send } = bench();
    const to = at(server.port, { security: 'starttls', ca: server.ca, account: ACCOUNT });
    await Promise.all(Array.from({ length: 20 }, (_, n) => send(to, { messageId: `<${n}@example.com>` })));
    expect([server.mails.length, most <= 2]).toEqual([20, true]);
  });

  it('one that the server has closed meanwhile is replaced, and the message goes out once', async () => {
    const server = await mailServer();
    const { send } = bench();
    const to = at(server.port, { security: 'starttls', ca: server.ca, account: ACCOUNT });
    await send(to);
    server.drop();
    await send(to, { subject: 'Again' });
    expect(server.mails).toHaveLength(2);
  });

  it('that nobody uses give way where there are too many servers; those in use do not', async () => {
    const server = await mailServer();
    const { send } = bench(undefined, 1);
    const of = (owner: string) =>
      at(server.port, { owner, security: 'starttls', ca: server.ca, account: ACCOUNT });
    await send(of('a'));
    const busy = Promise.withResolvers<void>();
    server.beforeAnswer = () => busy.promise;
    const sending = send(of('b'));
    await expect.poll(() => server.mails.length).toBe(2);
    server.beforeAnswer = async () => undefined;
    // Both are needed now; the first connection is closed, since nobody uses it.
    await send(of('c'));
    await expect.poll(() => server.connections()).toBe(2);
    busy.resolve();
    await sending;
    const sessions = server.mails.map(({ session }) => session);
    expect(new Set(sessions).size).toBe(3);
    await send(of('a'));
    expect(sessions).not.toContain(server.mails.at(-1)?.session);
    await expect.poll(() => server.connections()).toBe(1);
  });
});

describe('a refusal', () => {
  it.each([
    ['the sender', 'desk@example.com', '550 5.7.1 not yours', 'sender', 550],
    ['the only recipient', 'ann@example.com', '450 4.7.1 greylisted', 'recipients', 450],
    ['the message', ANY_MESSAGE, '554 5.7.1 looks like spam', 'message', 554],
    ['the message for now', ANY_MESSAGE, '451 4.3.0 try later', 'message', 451],
  ])(
    'of %s says where and how, and the connection is good for the next',
    async (_, what, said, stage, code) => {
      const server = await mailServer();
      const { send, metrics } = bench();
      const to = at(server.port, { security: 'starttls', ca: server.ca, account: ACCOUNT });
      server.refuses.set(what, said);
      await expect(send(to)).rejects.toMatchObject({
        name: 'SmtpRefusal',
        stage,
        code,
        reply: expect.stringContaining(said.slice(4)),
      });
      expect(metrics.values.get(`ute_smtp_messages_total{${code < 500 ? 'deferred' : 'refused'}}`)).toBe(1);
      server.refuses.clear();
      await send(to);
      expect(server.mails).toHaveLength(1);
    },
  );

  it('by its greeting is one, too; and none of a message is sent without a login that was asked for', async () => {
    const closed = await scripted((line) => (line === 'CONNECT' ? '554 go away\r\nend' : undefined));
    await expect(bench().send(at(closed.port))).rejects.toMatchObject({ stage: 'greeting', code: 554 });
    const open = await scripted(
      taking((line) => (line.startsWith('AUTH') ? '502 no login here\r\n' : undefined)),
    );
    await expect(bench().send(at(open.port, { account: ACCOUNT }))).rejects.toMatchObject({ stage: 'login' });
    expect(open.lines.join('\n')).not.toContain('MAIL');
  });
});

describe('a connection that is lost', () => {
  const lost = (when: string) =>
    taking((line) => (line === when || line.startsWith(`${when} `) ? 'end' : undefined));

  it.each(['MAIL', 'RCPT', 'DATA'])(
    'at %s has handed nothing over, and it may be sent again',
    async (when) => {
      const server = await scripted(
        taking((line) =>
          line === 'DATA' && when === 'DATA' ? 'end' : line.startsWith(`${when} `) ? 'end' : undefined,
        ),
      );
      await expect(bench().send(at(server.port))).rejects.toMatchObject({
        type: 'UNAVAILABLE',
        reason: 'CONNECTION_LOST',
        retryable: true,
        ...NOTHING_SENT,
      });
    },
  );

  it('behind the message leaves open whether it was taken: it is not sent again, and says so', async () => {
    const server = await scripted(lost('.'));
    const { send, metrics } = bench();
    await expect(send(at(server.port))).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'DELIVERY_UNKNOWN',
      retryable: false,
      partialSideEffects: true,
    });
    expect(server.lines.filter((line) => line === 'DATA')).toHaveLength(1);
    expect(metrics.values.get('ute_smtp_messages_total{unknown}')).toBe(1);
  });

  it('an answer to the message that is none leaves it open as well', async () => {
    const server = await scripted(taking((line) => (line === '.' ? 'whatever\r\n' : undefined)));
    await expect(bench().send(at(server.port))).rejects.toMatchObject({ reason: 'DELIVERY_UNKNOWN' });
  });

  it('an answer of several lines to the message counts where its lines agree', async () => {
    const answering = (answer: string) => scripted(taking((line) => (line === '.' ? answer : undefined)));
    const clear = await answering('250-taken\r\n250 ok\r\n');
    await expect(bench().send(at(clear.port))).resolves.toMatchObject({ accepted: ['ann@example.com'] });
    const unclear = await answering('250-taken\r\n550 after all not\r\n');
    await expect(bench().send(at(unclear.port))).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'DELIVERY_UNKNOWN',
      retryable: false,
      partialSideEffects: true,
    });
  });

  it('an endless or foreign answer ends it', async () => {
    const http = await scripted((line) =>
      line === 'CONNECT' ? 'HTTP/1.1 400 Bad Request\r\n\r\n' : undefined,
    );
    await expect(bench().send(at(http.port))).rejects.toMatchObject({
      reason: 'SMTP_PROTOCOL',
      ...NOTHING_SENT,
    });
    const endless = await scripted(
      taking((line) => (line.startsWith('EHLO') ? '250-more\r\n'.repeat(20_000) : undefined)),
    );
    await expect(bench().send(at(endless.port))).rejects.toMatchObject({ reason: 'SMTP_PROTOCOL' });
  });
});

describe('whoever waits no longer', () => {
  it.each(['CONNECT', 'EHLO', 'MAIL', '.'])(
    'ends a send that hangs at %s, and its connection',
    async (when) => {
      const seen = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      const server = await scripted(
        taking((line, socket) => {
          if (line !== when && !line.startsWith(`${when} `)) return undefined;
          socket.on('close', () => gone.resolve());
          seen.resolve();
          return '';
        }),
      );
      const waiting = new AbortController();
      const sent = bench()
        .send(at(server.port), {}, waiting.signal)
        .catch((error: unknown) => error);
      await seen.promise;
      waiting.abort(new Error('gone'));
      expect(await sent).toMatchObject({ message: 'gone' });
      await gone.promise;
    },
  );
});

it('nothing is sent once it is closed', async () => {
  const server = await scripted(taking());
  const { servers, send } = bench();
  await servers.close();
  await expect(send(at(server.port))).rejects.toMatchObject({ reason: 'DRAINING' });
});
