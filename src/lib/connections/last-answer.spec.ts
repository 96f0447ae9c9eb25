// The last answer on a real connection: the other end gets it, and is not waited for.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { giveLastAnswer } from './last-answer.ts';

it('arrives, and the connection is closed though the other end keeps its side open', async () => {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  const [socket] = (await accepted) as [Socket];
  client.on('error', () => undefined);
  const heard = once(client, 'data');
  giveLastAnswer(socket, 'no');
  expect(String((await heard)[0])).toBe('no');
  await once(socket, 'close');
  expect(client.writable).toBe(true);
  client.destroy();
  server.close();
});
