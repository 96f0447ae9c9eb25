// A network that loses things: a proxy before the gateway. The first part of a path says what is lost, for one reader of its own:
// `/<reader>/<fault>:<times>/v1/…`; `none` loses nothing.
import { createServer, request as forwarded, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { LoopbackServers } from '../helpers/loopback-servers.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly prefer: string | undefined;
  readonly lastEventId: string | undefined;
}

const FAULTS = [
  'none',
  'drop-request',
  'drop-answer',
  'bad-gateway',
  'redirect',
  'cut-stream',
  'cut-heard',
  'cut-said',
  'redirect-upgrade',
] as const;
type Fault = (typeof FAULTS)[number];

export class RoughNetwork {
  readonly #target: string;
  readonly #done = new Map<string, number>();
  readonly #seen = new Map<string, SeenRequest[]>();
  url = '';

  constructor(target: string) {
    this.#target = target;
  }

  async listen(loopback: LoopbackServers): Promise<this> {
    const server = createServer((request, response) => this.#serve(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#tunnel(request, socket, head),
    );
    this.url = await loopback.listen(server);
    return this;
  }

  /** The address for one reader. */
  for(reader: string, fault: Fault, times = 1): string {
    return `${this.url}/${reader}/${fault}:${times}`;
  }

  seen(reader: string): readonly SeenRequest[] {
    return this.#seen.get(reader) ?? [];
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const [, reader = '', what = ''] = (request.url ?? '').split('/');
    const path = (request.url ?? '').slice(reader.length + what.length + 2);
    if (path === '/seen') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(this.seen(reader)));
      return;
    }
    this.#note(reader, path, request);
    const fault = this.#faultNow(reader, what);
    if (fault === 'drop-request') {
      request.socket.destroy();
    } else if (fault === 'bad-gateway') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502</h1>');
    } else if (fault === 'redirect') {
      response.writeHead(307, { location: `${this.url}/thief/none:0${path}` }).end();
    } else {
      this.#forward(request, response, path, fault);
    }
  }

  /** A WebSocket: lost with the first call that the gateway tells of (`cut-heard`), or with what the client says first in it (`cut-said`). */
  #tunnel(request: IncomingMessage, client: Socket, head: Buffer): void {
    const [, reader = '', what = ''] = (request.url ?? '').split('/');
    const path = (request.url ?? '').slice(reader.length + what.length + 2);
    this.#note(reader, path, request);
    const fault = this.#faultNow(reader, what);
    if (fault === 'redirect-upgrade') {
      client.end(`HTTP/1.1 307 No\r\nlocation: ${this.url}/thief/none:0${path}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(this.#target);
    const upstream = connect(Number(port), hostname);
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.once('error', cut).once('close', cut);
    let isBegun = false;
    upstream.on('data', (chunk: Buffer) => {
      isBegun ||= chunk.includes('"started"') || chunk.includes('"resumed"');
      if (fault === 'cut-heard' && chunk.includes('"tool_started"')) cut();
      else client.write(chunk);
    });
    client.on('data', (chunk: Buffer) => {
      if (fault === 'cut-said' && isBegun) cut();
      else upstream.write(chunk);
    });
    const { rawHeaders } = request;
    const lines = rawHeaders.flatMap((name, at) =>
      at % 2 === 0
        ? [`${name}: ${name.toLowerCase() === 'host' ? `${hostname}:${port}` : rawHeaders[at + 1]}`]
        : [],
    );
    upstream.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
  }

  #note(reader: string, path: string, { method = '', headers }: IncomingMessage): void {
    const text = (name: string) => headers[name]?.toString();
    const seen = { method, path, key: text('idempotency-key'), prefer: text('prefer') };
    this.#seen.set(reader, [...this.seen(reader), { ...seen, lastEventId: text('last-event-id') }]);
  }

  /** The fault, as long as it is to be had; a stream is cut on routes of events alone. */
  #faultNow(reader: string, what: string): Fault {
    const [name = 'none', times = '1'] = what.split(':');
    const fault = FAULTS.find((each) => each === name) ?? 'none';
    const last = this.seen(reader).at(-1);
    if (fault === 'cut-stream' && last?.path.includes('/events') !== true) return 'none';
    const done = this.#done.get(reader) ?? 0;
    if (done >= Number(times)) return 'none';
    this.#done.set(reader, done + 1);
    return fault;
  }

  #forward(request: IncomingMessage, response: ServerResponse, path: string, fault: Fault): void {
    const { method, headers } = request;
    const upstream = forwarded(`${this.#target}${path}`, { method, headers, agent: false }, (answer) => {
      if (fault === 'drop-answer') {
        answer.resume().once('end', () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault !== 'cut-stream') {
        answer.pipe(response);
        return;
      }
      answer.on('data', (chunk: Buffer) => {
        // In the middle of the line behind the first event.
        const text = chunk.toString();
        const first = text.indexOf('\n\n', text.indexOf('id: '));
        if (!text.includes('id: ') || first < 0) response.write(chunk);
        else {
          answer.removeAllListeners('data').destroy();
          response.write(`${text.slice(0, first + 2)}id: 99\nevent: prog`, () => request.socket.destroy());
        }
      });
    });
    upstream.once('error', () => request.socket.destroy());
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }
}
