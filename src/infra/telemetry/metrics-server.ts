// The metrics port: /metrics for Prometheus and the probes /livez and /readyz, in every role. No credential, no TLS: keep it
// off public networks.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foreignRequest, namesHostTwice } from '../../lib/egress/foreign-request.ts';

/** A scrape and a probe are small and come at once: who is slower is cut off, and whoever says nothing after a connection began. */
const PATIENCE_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;
/** Prometheus and probes are few: more would take the files that calls need. */
const MOST_CONNECTIONS = 1_000;

/** As Prometheus asks for it, before the older format. */
const OPEN_METRICS = /^[^,]*application\/openmetrics-text(?:;[^,]*)?/;

export interface Exposition {
  exposition(
    format: 'text' | 'openmetrics',
  ): Promise<{ readonly contentType: string; readonly text: string }>;
}

interface ReadinessAnswer {
  readonly status: number;
  readonly body: object;
}

export interface MetricsServerNeeds {
  readonly metrics: Exposition;
  /** What /readyz answers now. */
  readonly readiness: () => Promise<ReadinessAnswer> | ReadinessAnswer;
  /** Nobody shows a credential on this gateway, so pages of other origins are kept out here as well. */
  readonly anonymous: boolean;
  /** How long a connection may take to bring a whole request. */
  readonly patienceMs?: number;
  readonly mostConnections?: number;
}

export class MetricsServer {
  readonly #needs: MetricsServerNeeds;
  readonly #server: Server;

  constructor(needs: MetricsServerNeeds) {
    this.#needs = needs;
    const { patienceMs = PATIENCE_MS, mostConnections = MOST_CONNECTIONS } = needs;
    const limits = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: patienceMs,
      requestTimeout: patienceMs,
      connectionsCheckingInterval: patienceMs / 5,
    };
    this.#server = createServer(limits, (request, response) => this.#answer(request, response));
    this.#server.maxConnections = mostConnections;
  }

  /** The port in use. Rejects when it cannot be had. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { metrics, readiness, anonymous } = this.#needs;
    if (namesHostTwice(request)) return void response.writeHead(400).end();
    if (anonymous && foreignRequest(request.headers) !== undefined) return void response.writeHead(403).end();
    const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined;
    if (path === '/livez') return sendJson(response, 200, { status: 'ok' });
    if (path === '/readyz') {
      const answer = async () => {
        const { status, body } = await readiness();
        sendJson(response, status, body);
      };
      answer().catch(() => response.writeHead(500).end());
      return;
    }
    if (path !== '/metrics') return void response.writeHead(404).end();
    const format = OPEN_METRICS.test(request.headers.accept ?? '') ? 'openmetrics' : 'text';
    metrics.exposition(format).then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
