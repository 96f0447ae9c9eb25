// HttpClient on undici: pooled and guarded connections, no redirects, no proxy, bounded answers, one total deadline.
import type { Dispatcher } from 'undici';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { EgressPolicy, HttpClient, HttpRequest, HttpResponse } from '../../ports/egress/http-client.ts';
import { NameResolver } from '../dns/name-resolver.ts';
import { decodeContent } from './decode-content.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { realOutside, type Outside } from './guarded-connector.ts';
import { PolicyAgents } from './policy-agents.ts';
import { ResponseCollector } from './response-collector.ts';

export interface UndiciHttpClientOptions {
  readonly connectionsPerOrigin?: number;
  readonly connectTimeoutMs?: number;
  /** Policies that keep connections at the same time; the one used longest ago gives way. */
  readonly maxPolicies?: number;
  readonly outside?: Outside;
  /** Certificate authority that is trusted instead of the system's. */
  readonly ca?: Buffer;
}

const DEFAULT_FETCH_BYTES = 16 * 1024 * 1024;

export class UndiciHttpClient implements HttpClient {
  readonly #agents: PolicyAgents;
  readonly #outside: Outside;

  constructor(options: UndiciHttpClientOptions = {}) {
    const {
      connectionsPerOrigin = 64,
      connectTimeoutMs = 5_000,
      maxPolicies = 256,
      outside = realOutside(new NameResolver()),
      ca,
    } = options;
    this.#outside = outside;
    this.#agents = new PolicyAgents({ connectionsPerOrigin, connectTimeoutMs, maxPolicies, outside, ca });
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

  fetch(egress: EgressPolicy, maxResponseBytes = DEFAULT_FETCH_BYTES): typeof globalThis.fetch {
    if (egress.allowHosts.length === 0) {
      throw new Error('fetch needs allowHosts: the library it is made for may be told any URL.');
    }
    return guardedFetch(() => this.#agents.for(egress), maxResponseBytes);
  }

  async close(): Promise<void> {
    await this.#agents.close();
  }

  /** Requests of one turn of the event loop leave together at its end: under load the upstream is woken once for many. */
  #exchange(request: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const collector = new ResponseCollector(request, resolve, reject);
      request.onWaiting?.(() => this.#unsent(request, collector));
      setImmediate(() => this.#send(request, collector));
    });
  }

  #unsent({ origin }: HttpRequest, { hasBegun }: ResponseCollector): ToolFailure | undefined {
    return hasBegun ? undefined : this.#outside.unresolved?.(new URL(origin).hostname);
  }

  #send(request: HttpRequest, collector: ResponseCollector): void {
    if (collector.isSettled) return;
    const options: Dispatcher.DispatchOptions = {
      origin: request.origin,
      path: request.path,
      method: request.method,
      headers: { ...request.headers, 'accept-encoding': 'identity' },
      body: request.body ?? null,
    };
    try {
      this.#agents.for(request.egress).dispatch(options, collector);
    } catch (cause) {
      // Undici throws what it cannot even begin: after close(), or for a request that is not well formed.
      collector.fail(this.#agents.closed ? draining(cause) : cause);
    }
  }
}

function draining(cause: unknown): ToolFailure {
  return toolFailure('DRAINING', 'The gateway is shutting down.', { cause });
}
