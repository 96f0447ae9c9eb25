// A mail server (smtp-server) on loopback that keeps what it is given, and one that says whatever a script tells it.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { selfSignedCertificate } from './self-signed-certificate.ts';

export interface ReceivedMail {
  readonly user: string | undefined;
  /** Of the connection that it came over. */
  readonly session: string;
  readonly isSecure: boolean;
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

export interface MailServer {
  readonly port: number;
  /** PEM of the certificate that it shows, for localhost and 127.0.0.1. */
  readonly ca: string;
  readonly mails: ReceivedMail[];
  /** Who tried to log in, and with what. */
  readonly logins: { readonly user: string; readonly password: string }[];
  /** By user. */
  readonly accounts: Map<string, string>;
  /** What an address, or a message, is answered with instead of being taken. */
  readonly refuses: Map<string, string>;
  /** Awaited before the answer to a message. */
  beforeAnswer: (mail: ReceivedMail) => Promise<void>;
  readonly connections: () => number;
  /** Ends what is open, as a server does that is restarted. */
  drop(): void;
  close(): Promise<void>;
}

const TLS_HANDSHAKE = 0x16;

/** Refuses the message itself, in `refuses`. */
export const ANY_MESSAGE = 'message';

/** `port`: a free one where it is not said. */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  const { cert, key } = selfSignedCertificate();
  const mails: ReceivedMail[] = [];
  const logins: { user: string; password: string }[] = [];
  const accounts = new Map([['desk', 'desk-password-1']]);
  const refuses = new Map<string, string>();
  const refusal = (said: string): Error =>
    Object.assign(new Error(said.slice(4)), { responseCode: Number(said.slice(0, 3)) });
  const server = new SMTPServer({
    cert,
    key,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth({ username, password: given }, _, done) {
      const [user, password] = [username ?? '', given ?? ''];
      logins.push({ user, password });
      if (accounts.get(user) === password) done(null, { user });
      else done(refusal('535 5.7.8 no such account'));
    },
    onMailFrom({ address }, _, done) {
      const said = refuses.get(address);
      done(said === undefined ? null : refusal(said));
    },
    onRcptTo({ address }, _, done) {
      const said = refuses.get(address);
      done(said === undefined ? null : refusal(said));
    },
    onData(stream, { id, user, secure, envelope }, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const said = refuses.get(ANY_MESSAGE);
        if (said !== undefined) return done(refusal(said));
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const mail = {
          user: typeof user === 'string' ? user : undefined,
          session: id,
          isSecure: secure,
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(pieces),
        };
        mails.push(mail);
        void made.beforeAnswer(mail).then(() => done(null, 'queued as 4711'));
        return undefined;
      });
    },
    ...options,
  });
  // A client that does not trust the certificate, or goes away in the middle, is what tests are about.
  server.on('error', () => undefined);
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const made: MailServer = {
    port: (listening.address() as AddressInfo).port,
    ca: cert.toString(),
    mails,
    logins,
    accounts,
    refuses,
    beforeAnswer: async () => undefined,
    connections: () => server.connections.size,
    drop: () => {
      for (const connection of server.connections) connection.close();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return made;
}

export function parsed({ raw }: ReceivedMail): Promise<ParsedMail> {
  return simpleParser(raw);
}

export interface ScriptedServer {
  readonly port: number;
  /** The lines that it was sent, over all connections. */
  readonly lines: string[];
  close(): Promise<void>;
}

/**
 * Says what `answer` gives for each line; undefined: nothing. Inside a message it is asked about '.' alone. `end`, in what it
 * says, ends the connection behind it.
 */
export async function scriptedMailServer(
  answer: (line: string, socket: Socket) => string | undefined,
): Promise<ScriptedServer> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let rest = '';
    let isInMessage = false;
    const say = (line: string): void => {
      const said = answer(line, socket);
      if (said === undefined || socket.destroyed) return;
      socket.write(said.replace(/end$/, ''));
      if (said.startsWith('354')) isInMessage = true;
      if (said.endsWith('end')) socket.destroy();
    };
    say('CONNECT');
    socket.on('data', (piece) => {
      // It has no certificate to greet with.
      if (piece[0] === TLS_HANDSHAKE) return void socket.destroy();
      rest += piece.toString('latin1');
      const read = rest.split('\r\n');
      rest = read.pop() ?? '';
      for (const line of read) {
        lines.push(line);
        if (isInMessage && line !== '.') continue;
        isInMessage = false;
        say(line);
      }
      return undefined;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A server without TLS that takes everything, but for the lines that `other` answers itself. */
export function taking(
  other: (line: string, socket: Socket) => string | undefined = () => undefined,
): (line: string, socket: Socket) => string | undefined {
  return (line, socket) => {
    const said = other(line, socket);
    if (said !== undefined) return said === '' ? undefined : said;
    if (line === 'CONNECT') return '220 ready\r\n';
    if (line.startsWith('EHLO')) return '250-here\r\n250 SIZE 1000000\r\n';
    if (line === 'DATA') return '354 go on\r\n';
    if (line === 'QUIT') return '221 bye\r\nend';
    return '250 ok\r\n';
  };
}
