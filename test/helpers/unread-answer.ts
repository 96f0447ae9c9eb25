// The answer to a client on loopback that reads nothing until it is told to; both are gone with the test.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { onTestFinished } from 'vitest';

/** `take` is given the answer before anything is written to it, as Fastify gives it. */
export async function unreadAnswer<Taken>(
  take: (reply: FastifyReply) => Taken,
): Promise<{ readonly raw: ServerResponse; readonly client: Socket; readonly taken: Taken }> {
  const told: { raw: ServerResponse; taken: Taken }[] = [];
  const server = createServer((_request, raw) => {
    const reply = { raw, hijack: () => undefined } as unknown as FastifyReply;
    told.push({ raw, taken: take(reply) });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(server, 'request');
  const [answer] = told;
  if (answer === undefined) throw new Error('nobody asked');
  return { ...answer, client };
}
