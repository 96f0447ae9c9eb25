// A load balancer as simple as one can be: each request to the next backend, over a connection that the backend may keep, and none is
// tried twice.
import { Agent, createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Backend {
  /** URL. */
  readonly rest: string;
}

export class TurnProxy {
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(backends: readonly Backend[]) {
    let turn = 0;
    this.#server = createServer((incoming, answer) => {
      const { rest = '' } = backends[(turn += 1) % backends.length] ?? {};
      const { method = 'GET', url = '/', headers } = incoming;
      const options = { method, headers, agent: this.#agent };
      const onward = ask(new URL(url, rest), options, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      onward.once('error', () => answer.writeHead(502).end());
      incoming.pipe(onward);
    });
  }

  /** The list may change while it runs. */
  static async over(backends: readonly Backend[]): Promise<TurnProxy> {
    const proxy = new TurnProxy(backends);
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await new Promise((done) => {
      this.#server.close(done);
      this.#server.closeAllConnections();
    });
    this.#agent.destroy();
  }
}
