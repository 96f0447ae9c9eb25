// An upstream that says all that it was sent, plain and encoded. It is an issuer of tokens, a provider of accounts without a browser, and
// a receiver of messages as well.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Issues {
  /** At /jwks. */
  readonly keys: readonly object[];
  /** At /provider/token, for any device. */
  readonly tokens: { readonly access_token: string; readonly refresh_token: string };
}

export class TellingUpstream {
  /** Bodies of messages: at /hook, /checkpoints and below /bucket. */
  readonly messages: { readonly path: string; readonly body: string }[] = [];
  /** How the client showed itself at /provider/token. */
  readonly clients: string[] = [];
  readonly #server: Server;
  readonly #issues: Issues;

  private constructor(issues: Issues) {
    this.#issues = issues;
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
  }

  static async start(issues: Issues): Promise<TellingUpstream> {
    const upstream = new TellingUpstream(issues);
    upstream.#server.listen(0, '127.0.0.1');
    await once(upstream.#server, 'listening');
    return upstream;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body: object }> {
    const { url: path = '', headers } = request;
    const body = await text(request);
    if (path === '/jwks') return { status: 200, body: { keys: this.#issues.keys } };
    if (path === '/provider/device') return { status: 200, body: this.#device() };
    if (path === '/provider/token') {
      this.clients.push(`${headers.authorization} ${body}`);
      return { status: 200, body: { ...this.#issues.tokens, token_type: 'Bearer', expires_in: 3_600 } };
    }
    if (/^\/(hook|checkpoints|bucket)/.test(path)) {
      this.messages.push({ path, body });
      return { status: 200, body: {} };
    }
    return { status: path.includes('how=t') ? 500 : 200, body: toldOf(path, headers, body) };
  }

  #device(): object {
    return {
      device_code: 'device-1',
      user_code: 'ABCD-EFGH',
      verification_uri: `${this.url}/provider/activate`,
      expires_in: 600,
      interval: 1,
    };
  }
}

function toldOf(path: string, headers: IncomingMessage['headers'], body: string): object {
  const { 'x-token': token } = headers;
  const own = `${path}|${String(headers['x-own'])}|${String(headers.authorization)}`;
  return {
    token,
    said: { path, headers },
    encoded: Buffer.from(own).toString('base64'),
    url: encodeURIComponent(String(token)),
    body,
    code: Buffer.from(body).toString('base64'),
  };
}
