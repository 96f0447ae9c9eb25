// Bodies over a real server: bounded while they arrive, JSON only, and the client always gets its answer.
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { ArrivingBodies } from '../../../lib/bytes/arriving-bodies.ts';
import { takeJsonBodies } from './json-body.ts';

const LIMIT = 1024;

let server: FastifyInstance;
let url: string;

beforeEach(async () => {
  server = fastify();
  takeJsonBodies(server, LIMIT);
  server.post('/', (request) => {
    if (request.body instanceof ToolFailure) return { type: request.body.type, reason: request.body.reason };
    return { bytes: Buffer.isBuffer(request.body) ? request.body.length : null };
  });
  url = await server.listen({ port: 0, host: '127.0.0.1' });
});

afterEach(() => server.close());

async function post(body: string | undefined, type = 'application/json'): Promise<unknown> {
  const headers = body === undefined ? undefined : { 'content-type': type };
  return (await fetch(url, { method: 'POST', headers, body })).json();
}

it('hands on the bytes of a body up to the limit, unparsed', async () => {
  expect(await post('{broken')).toEqual({ bytes: 7 });
  expect(await post('x'.repeat(LIMIT))).toEqual({ bytes: LIMIT });
  expect(await post('"grüße"', 'application/json; charset=utf-8')).toEqual({ bytes: 9 });
});

it('a body beyond the limit is refused with an answer that the client can read, and the server goes on', async () => {
  expect(await post('x'.repeat(LIMIT + 1))).toEqual({
    type: 'PAYLOAD_TOO_LARGE',
    reason: 'PAYLOAD_TOO_LARGE',
  });
  for (const times of [10, 17, 30_000])
    expect(await post('x'.repeat(LIMIT * times))).toMatchObject({ type: 'PAYLOAD_TOO_LARGE' });
  expect(await post('{}')).toEqual({ bytes: 2 });
});

it('who sends without an end is cut off', async () => {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  const closed = new Promise<void>((resolve) =>
    socket.on('error', () => resolve()).once('close', () => resolve()),
  );
  const size = 1 << 20;
  const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  socket.write(
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
  );
  let sent = 0;
  const send = () => {
    if (socket.destroyed || sent > 400) return;
    sent += 1;
    if (socket.write(chunk)) setImmediate(send);
    else socket.once('drain', send);
  };
  send();
  await closed;
  expect(sent).toBeLessThan(400);
});

it.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
])('a body of %s, which a web page could send unasked, is refused', async (type) => {
  expect(await post('{}', type)).toEqual({ type: 'VALIDATION', reason: 'UNSUPPORTED_MEDIA_TYPE' });
});

it('no body at all is no body', async () => {
  expect(await post(undefined)).toEqual({ bytes: null });
});

it('a body whose sender goes away is a call that was cancelled, and no error of the server', async () => {
  const taken = Promise.withResolvers<unknown>();
  const listening = fastify();
  takeJsonBodies(listening, LIMIT);
  listening.post('/', (request) => {
    taken.resolve(request.body);
    return null;
  });
  listening.setErrorHandler((error) => taken.reject(error));
  const { port } = new URL(await listening.listen({ port: 0, host: '127.0.0.1' }));
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{';
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(head, () => socket.destroy()));
  expect(await taken.promise).toMatchObject({ type: 'CANCELLED', reason: 'CLIENT_GONE' });
  await listening.close();
});

it('of bodies that were begun and left there, those that began first are given up, and others arrive', async () => {
  const listening = fastify();
  const limit = 100 * LIMIT;
  takeJsonBodies(listening, limit, new ArrivingBodies(2 * limit));
  const refused: (string | undefined)[] = [];
  listening.post('/', ({ body }, reply) => {
    if (Buffer.isBuffer(body)) return reply.send(String(body.length));
    refused.push(body instanceof ToolFailure ? body.reason : undefined);
    return reply.code(503).send('');
  });
  const { port, hostname } = new URL(await listening.listen({ port: 0, host: '127.0.0.1' }));
  const left = Array.from({ length: 6 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${limit}\r\n\r\n`,
    );
    socket.write('x'.repeat(limit - 1));
    return socket;
  });
  try {
    await vi.waitFor(() => expect(refused).toHaveLength(4), { timeout: 10_000 });
    for (const bytes of [limit, 2, limit]) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`http://${hostname}:${port}/`, {
        method: 'POST',
        headers,
        body: 'x'.repeat(bytes),
      });
      expect(await answer.text()).toBe(String(bytes));
    }
    expect(new Set(refused)).toEqual(new Set(['OVERLOADED']));
    expect(refused.length).toBeLessThan(left.length);
  } finally {
    for (const socket of left) socket.destroy();
    await listening.close();
  }
});
