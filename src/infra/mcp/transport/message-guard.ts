// MessageGuard: stands between a transport and the SDK. Only answers to what was asked get through, each once and within
// bounds; what else a server sends is counted, and too much of it ends the connection.
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { brokenProtocol, connectionLost, tooManyBlocks } from '../failures.ts';
import type { ProtocolViolation, ProtocolViolationBudget } from './protocol-violation-budget.ts';

export type RequestId = string | number;

/** A code that no server is meant to use; what is wrong stands in `data`, as an object that no JSON can be. */
const REFUSED_ANSWER = -33_999;
const PROBE = 'probe-';
const MAX_BLOCKS = 1_000;
/** Requests given up whose answers may still come; the oldest is forgotten. */
const MAX_ABANDONED = 1_000;
/** For a message that has no answer, over HTTP. */
const NOTIFY_TIMEOUT_MS = 5_000;

export interface GuardOptions {
  readonly inner: Transport;
  readonly budget: ProtocolViolationBudget;
  readonly onViolation: (kind: ProtocolViolation) => void;
}

export class MessageGuard implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly hasPerRequestStream: boolean;
  readonly #inner: Transport;
  readonly #options: GuardOptions;
  /** With what ends the request's own stream, over HTTP. */
  readonly #pending = new Map<RequestId, AbortController | undefined>();
  readonly #abandoned = new Set<RequestId>();
  readonly #lifeSigns = new Set<() => void>();
  #probes = 0;
  #broken = false;

  constructor(options: GuardOptions) {
    this.#inner = options.inner;
    this.#options = options;
    this.hasPerRequestStream = options.inner.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    Object.assign(this.#inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: (message: JSONRPCMessage) => this.#receive(message),
    });
    await this.#inner.start();
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (!('method' in message)) return this.#inner.send(message, options);
    if (!('id' in message)) return this.#notify(message, options);
    const { id } = message;
    options.requestSignal?.addEventListener('abort', () => this.#abandon(id), { once: true });
    const ending = this.hasPerRequestStream ? new AbortController() : undefined;
    this.#pending.set(id, ending);
    try {
      if (ending === undefined) return await this.#inner.send(message, options);
      await this.#inner.send(message, {
        ...options,
        requestSignal: ending.signal,
        // A stream that ends without the answer: nothing else would ever tell who waits for it.
        onRequestStreamEnd: options.onRequestStreamEnd ?? (() => this.fail(id, connectionLost())),
      });
    } catch (error) {
      this.#pending.delete(id);
      throw error;
    }
  }

  /** True once the server answers anything; false if it does not before the signal aborts, or takes nothing any more. */
  probe(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const isAlive = () => settle(true);
      const settle = (alive: boolean) => {
        this.#lifeSigns.delete(isAlive);
        resolve(alive);
      };
      this.#lifeSigns.add(isAlive);
      signal.addEventListener('abort', () => settle(false), { once: true });
      this.#probes += 1;
      const ping: JSONRPCMessage = { jsonrpc: '2.0', id: `${PROBE}${this.#probes}`, method: 'ping' };
      this.#inner.send(ping).catch(() => settle(false));
    });
  }

  /** Answers a request in the server's place. Undefined: whichever it was; every one that is waiting. */
  fail(id: RequestId | undefined, failure: ToolFailure): void {
    const ids = id === undefined ? [...this.#pending.keys()] : [id];
    for (const each of ids) {
      const ending = this.#pending.get(each);
      if (!this.#pending.delete(each)) continue;
      ending?.abort();
      const error = { code: REFUSED_ANSWER, message: failure.message, data: failure };
      this.onmessage?.({ jsonrpc: '2.0', id: each, error });
    }
  }

  /** The server is not to be listened to any longer. */
  breakOff(failure: ToolFailure): void {
    if (this.#broken) return;
    this.#broken = true;
    this.fail(undefined, failure);
    this.onerror?.(failure);
    void this.close().catch(() => undefined);
  }

  countViolation(kind: ProtocolViolation): void {
    if (this.#broken) return;
    if (kind !== 'notification') this.#options.onViolation(kind);
    if (!this.#options.budget.spend(kind)) this.breakOff(brokenProtocol(kind));
  }

  #receive(message: JSONRPCMessage): void {
    if (this.#broken) return;
    if (!('method' in message)) return this.#answer(message);
    if ('id' in message) this.countViolation('server_request');
    else if (message.method === 'notifications/progress') {
      const token = message.params?.['progressToken'];
      const isAsked = (typeof token === 'number' || typeof token === 'string') && this.#pending.has(token);
      this.countViolation(isAsked ? 'notification' : 'unasked_progress');
      if (!isAsked) return;
    } else this.countViolation('notification');
    if (!this.#broken) this.onmessage?.(message);
  }

  #answer(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const { id } = message;
    for (const isAlive of this.#lifeSigns) isAlive();
    // Also one that comes after nobody waited for it any more. A server that does not know `ping` says so.
    if (typeof id === 'string' && id.startsWith(PROBE)) return;
    if (id === undefined || !this.#pending.has(id)) {
      // The answer to a request that was given up has merely crossed with its cancellation.
      if (id === undefined || !this.#abandoned.delete(id)) this.countViolation('unknown_id');
      return;
    }
    if ('result' in message && hasTooManyBlocks(message.result))
      return this.fail(id, tooManyBlocks(MAX_BLOCKS));
    this.#pending.delete(id);
    // The SDK takes a notification up in a microtask, but an answer at once: progress before it would be lost.
    queueMicrotask(() => this.onmessage?.(message));
  }

  async #notify(message: JSONRPCMessage & { method: string }, options: TransportSendOptions): Promise<void> {
    const bounded = this.hasPerRequestStream
      ? { ...options, requestSignal: AbortSignal.timeout(NOTIFY_TIMEOUT_MS) }
      : options;
    const params: { readonly [name: string]: unknown } = ('params' in message && message.params) || {};
    const id = message.method === 'notifications/cancelled' ? params['requestId'] : undefined;
    try {
      await this.#inner.send(message, bounded);
    } finally {
      if (typeof id === 'string' || typeof id === 'number') this.#abandon(id);
    }
  }

  /** Nobody waits any more; over HTTP its stream is closed. */
  #abandon(id: RequestId): void {
    const ending = this.#pending.get(id);
    if (!this.#pending.delete(id)) return;
    ending?.abort();
    this.#abandoned.add(id);
    const [oldest] = this.#abandoned;
    if (this.#abandoned.size > MAX_ABANDONED && oldest !== undefined) this.#abandoned.delete(oldest);
  }
}

/** As the SDK knows one over stdin and stdout: there silence means an old server, and not one that is down. */
export class StdioGuard extends MessageGuard {
  readonly stderr = null;
  readonly pid = null;
}

/** What a refused answer stands for; undefined for an error that the server itself sent. */
export function refusalIn(code: unknown, data: unknown): ToolFailure | undefined {
  return code === REFUSED_ANSWER && data instanceof ToolFailure ? data : undefined;
}

function hasTooManyBlocks(result: { readonly [name: string]: unknown }): boolean {
  const { content } = result;
  return Array.isArray(content) && content.length > MAX_BLOCKS;
}
