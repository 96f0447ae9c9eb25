// MailPool: the connections to one mail server, of one owner and account. Each message is sent once, or not at all.
import type { Readable } from 'node:stream';
import { createTransport } from 'nodemailer';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { MailMessage, MailReceipt, SendOptions, SmtpServer } from '../../ports/egress/smtp-servers.ts';
import type { Outside } from '../http/guarded-connector.ts';
import { guardedSockets } from './guarded-sockets.ts';
import { mailOptions } from './mail-options.ts';
import type { SmtpMetrics } from './smtp-metrics.ts';
import { answeredTwoWays, failureOf, hasSeveralCodes, refusedOf, type SendProgress } from './smtp-outcome.ts';

const CONNECT_MS = 10_000;
/** A server that says nothing for so long. The deadline of a call comes first, as a rule. */
const SILENCE_MS = 60_000;
const IDLE_MS = 30_000;
const MOST_MESSAGES_PER_CONNECTION = 100;
const MOST_REPLY_BYTES = 64 * 1024;
const MOST_WAITING = 100;
/** Of a kept connection that the server had closed meanwhile: the message goes out over another one. */
const MOST_REQUEUES = 2;

export class MailPool {
  readonly #transport;
  /** By the signal of each send, which is the one thing of it that nodemailer hands on as it is. */
  readonly #progress = new WeakMap<AbortSignal, SendProgress>();
  #sending = 0;

  constructor(server: SmtpServer, outside: Outside, metrics: SmtpMetrics) {
    this.#transport = createTransport({
      ...serverOptions(server),
      pool: true,
      maxConnections: server.maxConnections,
      maxMessages: MOST_MESSAGES_PER_CONNECTION,
      maxRequeues: MOST_REQUEUES,
      idleTimeout: IDLE_MS,
      getSocket: guardedSockets(server, { outside, metrics, timeoutMs: CONNECT_MS }),
    });
    this.#transport.use('stream', ({ data, message }, done) => {
      const progress = data.signal && this.#progress.get(data.signal);
      if (progress !== undefined) message?.processFunc((stream) => watched(stream, progress));
      done();
    });
  }

  get isIdle(): boolean {
    return this.#sending === 0;
  }

  /** As SmtpServers says. */
  async send(message: MailMessage, { signal, onWaiting }: SendOptions): Promise<MailReceipt> {
    signal.throwIfAborted();
    if (this.#sending >= MOST_WAITING) throw queueFull();
    const progress: SendProgress = { began: false, handedOver: false };
    const own = AbortSignal.any([signal]);
    this.#progress.set(own, progress);
    onWaiting?.(() => (progress.handedOver ? undefined : notInTime()));
    this.#sending += 1;
    try {
      const sent = await this.#transport.sendMail({ ...mailOptions(message), signal: own });
      if (hasSeveralCodes(sent.response)) throw answeredTwoWays();
      return { accepted: sent.accepted, rejected: refusedOf(sent.rejectedErrors), reply: sent.response };
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, progress);
    } finally {
      this.#sending -= 1;
    }
  }

  close(): void {
    this.#transport.close({ force: true });
  }
}

function serverOptions({ host, port, security, account, ca, serverName, clientName }: SmtpServer) {
  return {
    host: host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, ''),
    port,
    name: clientName,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED would change what is left to a default.
    tls: {
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2' as const,
      ...(ca !== undefined && { ca }),
      ...(serverName !== undefined && { servername: serverName }),
    },
    // Without forceAuth, a server that offers no login would be given the message all the same.
    ...(account !== undefined && { auth: { user: account.user, pass: account.password }, forceAuth: true }),
    logger: false,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxResponseSize: MOST_REPLY_BYTES,
  };
}

/** Asked for once a connection is ready. At its end all of it was read, and written to the connection. */
function watched(stream: Readable, progress: SendProgress): Readable {
  progress.began = true;
  if (progress.handedOver) {
    // Never to happen, and never to be left to a library: this would be the second copy.
    stream.destroy(new Error('The message was handed over before.'));
    return stream;
  }
  stream.once('end', () => (progress.handedOver = true));
  return stream;
}

function queueFull(): ToolFailure {
  return toolFailure('QUEUE_FULL', 'Too many messages wait for this mail server.', {
    retryAfterMs: 1_000,
    partialSideEffects: false,
  });
}

/** A message that breaks off is none: the connection ends with the call. */
function notInTime(): ToolFailure {
  return new ToolFailure(
    'TIMEOUT',
    'The mail server did not take the message in time: nothing of it was handed over.',
    { partialSideEffects: false },
  );
}
