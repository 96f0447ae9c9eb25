// StreamSockets: WebSockets at /v1/stream: whom an upgrade is refused to, and what each frame of a socket is to its stream.
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { shuttingDown, toolFailure } from '../../../contract/call/failure.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { foreignOrigin, foreignRequest, namesHostTwice } from '../../../lib/egress/foreign-request.ts';
import { giveLastAnswer } from '../../../lib/connections/last-answer.ts';
import { SharedSlots } from '../../../lib/concurrency/shared-slots.ts';
import { namedTenant, TENANT_KEY } from '../../named-tenant.ts';
import { clientAddressOf, credentialOf } from '../../rest/server/credential.ts';
import { problemOf } from '../../rest/server/problem-of.ts';
import { invalid } from '../../rest/route/violations.ts';
import { readMessage } from '../messages/read-message.ts';
import type { StreamHub } from '../stream-hub.ts';
import { Visit, type Shown } from '../visit.ts';
import { WebSocketLine } from './web-socket-line.ts';

/** What a client may ask for, and is answered with. */
export const PROTOCOL = 'ute.v1';
const PING_MS = 20_000;
/** Connections that have shown no credential yet. */
const MOST_STRANGERS = 64;
const LEFT = 1000;

export interface SocketTerms {
  /** Nobody shows a credential: only this machine's own programs and pages are answered. */
  readonly isAnonymous: boolean;
}

export class StreamSockets {
  readonly #hub: StreamHub;
  readonly #terms: SocketTerms;
  readonly #server: WebSocketServer;
  readonly #strangers = new SharedSlots(MOST_STRANGERS);
  readonly #open = new Set<WebSocket>();

  constructor(hub: StreamHub, terms: SocketTerms) {
    this.#hub = hub;
    this.#terms = terms;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: hub.parts.terms.maxMessageBytes,
      perMessageDeflate: false,
      clientTracking: false,
      handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
    });
  }

  /** An upgrade that was asked for at the path of streams. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const onError = () => socket.destroy();
    socket.once('error', onError);
    try {
      const { shown, isStranger } = await this.#admit(request);
      const leave = isStranger ? this.#strangers.take('') : () => undefined;
      if (leave === undefined)
        throw toolFailure('TOO_MANY_STREAMS', 'Too many connections have shown no credential yet.', {
          retryAfterMs: 5_000,
        });
      socket.once('close', leave);
      socket.off('error', onError);
      this.#server.handleUpgrade(request, socket, head, (open) => this.#serve(open, shown, leave));
    } catch (error) {
      refuse(
        socket,
        error instanceof ToolFailure ? error : new ToolFailure('INTERNAL', 'The gateway failed.'),
      );
      if (!(error instanceof ToolFailure))
        this.#hub.parts.log.error({ err: error }, 'a WebSocket could not be opened');
    }
  }

  /** Every one of them: what is left was told to come again. */
  close(): void {
    for (const socket of this.#open) socket.terminate();
    this.#server.close();
  }

  /** Throws ToolFailure, or rejects with it. */
  async #admit(request: IncomingMessage): Promise<{ readonly shown: Shown; readonly isStranger: boolean }> {
    if (this.#hub.isDraining) throw shuttingDown();
    const { headers, socket } = request;
    if (
      headers.host === undefined ||
      namesHostTwice({ rawHeaders: request.rawHeaders, url: request.url ?? '' })
    )
      throw toolFailure('HOST_UNCLEAR', 'The request has to name its host once, and its target by a path.');
    this.#checkOrigin(headers);
    if (request.url?.includes('?') === true)
      throw invalid(
        '',
        'must have no query: a key is shown in the header Authorization, or in the first message',
      );
    const offered = headers['sec-websocket-protocol'];
    if (offered !== undefined && !offered.split(',').some((each) => each.trim() === PROTOCOL))
      throw invalid('', `header Sec-WebSocket-Protocol must name ${PROTOCOL}, or be left out`);
    const tenantId = namedTenant(headers[TENANT_KEY]);
    if (tenantId instanceof ToolFailure) throw tenantId;
    const shown = {
      credential: credentialOf({ headers, socket, raw: request }),
      from: clientAddressOf({ headers, socket }),
      tenantId,
    };
    return { shown, isStranger: await this.#isStranger(shown) };
  }

  #checkOrigin(headers: IncomingMessage['headers']): void {
    const foreign = this.#terms.isAnonymous ? foreignRequest(headers) : undefined;
    if (foreign !== undefined)
      throw new ToolFailure('PERMISSION_DENIED', foreign.message, { reason: foreign.reason });
    const origin = foreignOrigin(headers);
    if (origin !== undefined) throw new ToolFailure('PERMISSION_DENIED', origin, { reason: 'ORIGIN_DENIED' });
  }

  /** Who has shown nothing may do so in the first message. A credential that is no good is refused now. */
  async #isStranger({ credential, tenantId }: Shown): Promise<boolean> {
    try {
      await this.#hub.parts.authenticator.authenticate(credential, tenantId);
      return false;
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      if (credential.kind === 'none') return true;
      // Which one, the first message may say.
      if (isReason(error, 'TENANT_REQUIRED')) return false;
      throw error;
    }
  }

  #serve(socket: WebSocket, shown: Shown, leave: () => void): void {
    this.#open.add(socket);
    const { clock } = this.#hub.parts;
    const line = new WebSocketLine(socket, clock, () => visit.drained());
    const visit: Visit = new Visit(this.#hub, line, shown, leave);
    let isAlive = true;
    const pings = setInterval(() => {
      if (line.isPaused) return;
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    }, PING_MS);
    pings.unref();
    socket.on('pong', () => (isAlive = true));
    socket.on('message', (data, isBinary) => {
      isAlive = true;
      if (isBinary) socket.close(1003, 'text frames only');
      else visit.take(() => readMessage(textOf(data)));
    });
    socket.once('close', (code) => {
      clearInterval(pings);
      this.#open.delete(socket);
      if (code === LEFT) visit.left();
      else visit.gone();
    });
    // Told by the close that follows: a frame that is too large, no UTF-8, a connection that broke.
    socket.on('error', () => undefined);
  }
}

/** The library has checked that it is UTF-8. */
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

function refuse(socket: Duplex, failure: ToolFailure): void {
  const { status, json } = problemOf(failure, '/v1/stream');
  const more = [
    ...(status === 401 ? ['www-authenticate: Bearer'] : []),
    ...(failure.retryAfterMs === undefined ? [] : [`retry-after: ${Math.ceil(failure.retryAfterMs / 1000)}`]),
  ];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(json)}`,
    'connection: close',
    ...more,
  ];
  giveLastAnswer(socket, `${head.join('\r\n')}\r\n\r\n${json}`);
}
