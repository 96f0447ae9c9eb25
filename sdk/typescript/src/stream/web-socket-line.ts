// A WebSocket as the line of a stream: that of the platform, so that it works in browsers, Node.js, Deno and Bun.
import { ConnectionError, errorOf, type GatewayError } from '../errors/gateway-error.ts';
import type { ErrorType } from '../generated/gateway.ts';
import type { ClientMessage, ServerMessage } from './messages.ts';
import type { LineEvents, OpenLine, Speaker, StreamLine } from './line.ts';

const PROTOCOL = 'ute.v1';
const ENDED = 1000;
const TOO_LARGE = 1009;
/** The close of a connection that is let go: the gateway keeps the stream. */
const GOING_AWAY = 3000;

/** What is used of a WebSocket. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void;
}
export type SocketClass = new (url: string, protocol: string) => Socket;

export function webSocketLines(base: string, given: SocketClass | undefined): OpenLine {
  const Socket = given ?? (globalThis as { WebSocket?: SocketClass }).WebSocket;
  if (Socket === undefined)
    throw new TypeError('WebSocket: expected one, as Node.js 22 has it, or that of the package ws.');
  const url = `${base.replace(/^http/, 'ws')}/v1/stream`;
  return (speaker, events, signal) => opened(new Socket(url, PROTOCOL), speaker, events, signal);
}

function opened(
  socket: Socket,
  speaker: Speaker,
  events: LineEvents,
  signal: AbortSignal,
): Promise<StreamLine> {
  const line = new WebSocketLine(socket, speaker, events);
  return new Promise((resolve, reject) => {
    const abort = () => {
      line.drop();
      reject(signal.reason as Error);
    };
    const settled = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    socket.addEventListener('open', () => {
      settled();
      resolve(line);
    });
    socket.addEventListener('close', () => {
      settled();
      reject(new ConnectionError('The gateway did not open a stream.'));
    });
    if (signal.aborted) abort();
  });
}

class WebSocketLine implements StreamLine {
  readonly #socket: Socket;
  readonly #speaker: Speaker;
  readonly #events: LineEvents;
  #isOver = false;
  /** What the gateway said last of why it closes. */
  #told: GatewayError | undefined;

  constructor(socket: Socket, speaker: Speaker, events: LineEvents) {
    this.#socket = socket;
    this.#speaker = speaker;
    this.#events = events;
    socket.addEventListener('message', ({ data }) => this.#heard(data));
    socket.addEventListener('close', ({ code, reason }) => this.#closed(this.#whyOf(code, reason)));
    // Told by the close that follows.
    socket.addEventListener('error', () => undefined);
  }

  send(message: ClientMessage): void {
    if (this.#isOver) return;
    const { credential, tenant } = this.#speaker;
    const isFirst = message.type === 'start' || message.type === 'resume';
    const shown = isFirst && {
      ...(credential !== undefined && { token: credential }),
      ...(tenant !== undefined && { tenant_id: tenant }),
    };
    this.#socket.send(JSON.stringify({ ...message, ...shown }));
  }

  end(): void {
    this.#isOver = true;
    this.#socket.close(ENDED);
  }

  drop(): void {
    this.#isOver = true;
    this.#socket.close(GOING_AWAY);
  }

  #heard(data: unknown): void {
    if (this.#isOver || typeof data !== 'string') return;
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === 'error' && message.seq === undefined) this.#told = errorOfMessage(message.error);
    this.#events.message(message);
  }

  #closed(why: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(why);
  }

  #whyOf(code: number, reason: string): Error | undefined {
    if (code === ENDED) return undefined;
    if (code === TOO_LARGE) return closedBy('PAYLOAD_TOO_LARGE', 'PAYLOAD_TOO_LARGE', 413);
    const status = code - 4000;
    if (status < 400 || status > 599)
      return new ConnectionError(`The connection of the stream was lost (${code}).`);
    return this.#told?.reason === reason ? this.#told : closedBy(TYPES[status] ?? 'INTERNAL', reason, status);
  }
}

const TYPES: Readonly<Record<number, ErrorType>> = {
  400: 'VALIDATION',
  401: 'AUTH',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'CONCURRENCY_LIMIT',
  503: 'UNAVAILABLE',
};

function closedBy(type: ErrorType, reason: string, status: number): GatewayError {
  return errorOf({
    type,
    message: `The gateway has closed the stream: ${reason}.`,
    reason,
    retryable: status === 429 || status === 503,
    partialSideEffects: false,
    origin: 'gateway',
    details: {},
    status,
  });
}

/** What is wrong with a message, or with who says it. */
export function errorOfMessage(
  error: Extract<ServerMessage, { type: 'error' }>['error'],
  status = 400,
): GatewayError {
  const { type, message, reason, retryable, retry_after_ms: retryAfterMs, details } = error;
  return errorOf({
    type,
    message,
    reason,
    retryable,
    partialSideEffects: false,
    origin: 'caller',
    retryAfterMs: retryAfterMs ?? undefined,
    details,
    status,
  });
}
