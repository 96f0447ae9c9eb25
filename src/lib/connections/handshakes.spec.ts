// Handshakes on a real TLS server: those that do not end are cut off, and connections behind theirs are left alone.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { connect as connectTls, createServer } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { selfSignedCertificate } from '../../../test/helpers/self-signed-certificate.ts';
import { boundHandshakes } from './handshakes.ts';

let end: () => void = () => undefined;
afterEach(() => end());

async function listening(withinMs: number) {
  const server = createServer(selfSignedCertificate(), (secured) =>
    secured.on('error', () => undefined).resume(),
  );
  const handshakes = boundHandshakes(server, withinMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  end = () => server.close();
  const { port } = server.address() as AddressInfo;
  /** The client knows of the end of a handshake before the server does. */
  const secured = async () => {
    const taken = once(server, 'secureConnection');
    const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await taken;
    return client;
  };
  return { port, handshakes, secured };
}

async function silent(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => undefined).resume();
}

it.each([
  ['silent', ''],
  ['half said', '\x16\x03\x01\x02\x00\x01\x00'],
])('one that is %s is ended in time', async (_what, said) => {
  const { port } = await listening(50);
  const socket = await silent(port);
  if (said !== '') socket.write(Buffer.from(said, 'latin1'));
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

it('those under way are cut at once, and what is past its handshake stays', async () => {
  const { port, handshakes, secured } = await listening(60_000);
  const first = await secured();
  const underWay = await silent(port);
  // Accepted in the order they came: this one is behind it.
  const later = await secured();
  handshakes.cut();
  await once(underWay, 'close');
  expect([first.destroyed, later.destroyed]).toEqual([false, false]);
  first.destroy();
  later.destroy();
});
