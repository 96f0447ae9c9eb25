// Connections to a real server of grpc-js that say nothing, or no HTTP/2, and one that does.
import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, it } from 'vitest';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.ts';
import { endUnspokenConnections } from '../../src/api/grpc/connections/unspoken-connections.ts';

let server: Server | undefined;
afterEach(() => server?.forceShutdown());

function listening(made: ServerCredentials, withinMs: number): Promise<number> {
  const listener = new Server();
  server = listener;
  endUnspokenConnections(listener, withinMs);
  return new Promise((resolve, reject) => {
    listener.bindAsync('127.0.0.1:0', made, (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

const plain = () => ServerCredentials.createInsecure();

function secured(): ServerCredentials {
  const { cert, key } = selfSignedCertificate();
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}

it.each([
  ['says nothing', plain, ''],
  ['says half of a preface', plain, 'PRI * HTTP/2.0\r\n'],
  ['says nothing where TLS is spoken', secured, ''],
])('a connection that %s is ended', async (_what, made, said) => {
  const socket = connect(await listening(made(), 50), '127.0.0.1');
  await once(socket, 'connect');
  socket.resume().on('error', () => undefined);
  if (said !== '') socket.write(said);
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

it.each([
  ['plain', plain, 'http'],
  ['TLS', secured, 'https'],
])('one that has said its settings stays, though it asks for nothing: %s', async (_what, made, scheme) => {
  const port = await listening(made(), 2_000);
  const session: ClientHttp2Session = connectHttp2(`${scheme}://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
  });
  try {
    await once(session, 'remoteSettings');
    // One that is silent after this one is ended: its own time is over by then.
    const silent = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(silent.resume(), 'close');
    expect(session.closed || session.destroyed).toBe(false);
    await new Promise<void>((resolve, reject) =>
      session.ping((error) => (error === null ? resolve() : reject(error))),
    );
  } finally {
    session.destroy();
  }
});
