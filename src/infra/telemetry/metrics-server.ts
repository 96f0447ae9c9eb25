// The metrics port: /metrics for Prometheus and nothing else. No credential: keep it off public networks.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foreignRequest, namesHostTwice } from '../../lib/egress/foreign-request.ts';

export interface Exposition {
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export class MetricsServer {
  readonly #server: Server;

  /** `anonymous`: nobody shows a credential on this gateway, so pages of other origins are kept out here as well. */
  constructor(metrics: Exposition, anonymous: boolean) {
    this.#server = createServer((request, response) => {
      if (namesHostTwice(request)) {
        response.writeHead(400).end();
        return;
      }
      if (anonymous && foreignRequest(request.headers) !== undefined) {
        response.writeHead(403).end();
        return;
      }
      if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      metrics.exposition().then(
        ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
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
}
