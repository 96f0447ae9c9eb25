// Servers of a test's own on loopback: HTTP, raw bytes, DNS. `close` ends them and every connection to them.
import { createSocket } from 'node:dgram';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';

export class LoopbackServers {
  readonly #cleanups: (() => Promise<void> | void)[] = [];

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0)) await cleanup();
  }

  /** Origin of the server. */
  async listen(server: Server | TcpServer, scheme = 'http'): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.#cleanups.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  http(answer: (...exchange: Parameters<RequestListener>) => unknown): Promise<string> {
    return this.listen(createServer((request, response) => void answer(request, response)));
  }

  /** Says whatever bytes it likes, once a request has come. */
  raw(speak: (socket: Socket) => void): Promise<string> {
    return this.listen(createTcpServer((socket) => void socket.once('data', () => speak(socket))));
  }

  /** Answers every question with these addresses as A records, for no longer than now; undefined: never. None: no such data. */
  async dns(addressesOf: (name: string) => readonly string[] | undefined): Promise<number> {
    const socket = createSocket('udp4');
    socket.on('message', (query, { address, port }) => {
      const reply = dnsReply(query, addressesOf);
      if (reply !== undefined) socket.send(reply, port, address);
    });
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    this.#cleanups.push(() => new Promise<void>((done) => void socket.close(done)));
    return socket.address().port;
  }
}

function dnsReply(
  query: Buffer,
  addressesOf: (name: string) => readonly string[] | undefined,
): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const addresses = addressesOf(labels.join('.').toLowerCase());
  if (addresses === undefined) return undefined;
  const isForA = question.readUInt16BE(question.length - 4) === 1;
  const records = (isForA ? addresses : []).map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  const head = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
  return Buffer.concat([head, question, ...records]);
}
