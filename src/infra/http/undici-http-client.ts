// HttpClient on undici: pooled connections, no redirects, no proxy, bounded answers, one total deadline.
import { Agent, type Dispatcher } from 'undici';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../ports/http-client.ts';
import { decodeContent } from './decode-content.ts';
import { ResponseCollector } from './response-collector.ts';

export interface UndiciHttpClientOptions {
  readonly connectionsPerOrigin?: number;
  readonly connectTimeoutMs?: number;
}

/** A server that keeps idle connections for less than 5 s would close one just as we write to it. */
const KEEP_ALIVE_MS = 4_000;
const MAX_HEADER_BYTES = 16_384;

export class UndiciHttpClient implements HttpClient {
  readonly #agent: Agent;

  constructor({ connectionsPerOrigin = 64, connectTimeoutMs = 5_000 }: UndiciHttpClientOptions = {}) {
    // A plain Agent reads no proxy variables. Undici's own header and body timeouts are off: they start
    // again with every byte, so only the request's signal bounds a server that drips.
    this.#agent = new Agent({
      connections: connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectTimeoutMs },
    });
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { signal, maxResponseBytes } = request;
    signal.throwIfAborted();
    const response = await this.#exchange(request);
    const body = await decodeContent(response, maxResponseBytes);
    if (body === response.body) return response;
    signal.throwIfAborted();
    return { ...response, body };
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  #exchange(request: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const collector = new ResponseCollector(request, resolve, reject);
      const options: Dispatcher.DispatchOptions = {
        origin: request.origin,
        path: request.path,
        method: request.method,
        headers: { ...request.headers, 'accept-encoding': 'identity' },
        body: request.body ?? null,
      };
      try {
        this.#agent.dispatch(options, collector);
      } catch (cause) {
        // Undici throws what it cannot even begin: after close(), or for a request that is not well formed.
        collector.fail(
          this.#agent.closed
            ? new ToolFailure('UNAVAILABLE', 'The gateway is shutting down.', { reason: 'DRAINING', cause })
            : cause,
        );
      }
    });
  }
}
