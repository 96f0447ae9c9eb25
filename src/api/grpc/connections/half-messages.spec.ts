// Specs of requests that are not over on a real server: what is left there is given up, and those that are over arrive all the same.
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import * as fc from 'fast-check';
import { Client, credentials, Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ArrivingBodies } from '../../../lib/bytes/arriving-bodies.ts';
import { boundHalfMessages, HalfMessage } from './half-messages.ts';

const LIMIT = 1 << 20;
const PATH = '/test.Echo/Length';

const framed = (size: number, filled = size) => {
  const bytes = Buffer.alloc(5 + filled, 'x');
  bytes[0] = 0;
  bytes.writeUInt32BE(size, 1);
  return bytes;
};

describe('a message that is not whole', () => {
  it('is what arrived of it, however it is cut up, and nothing once it is whole', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, cuts, (all, pieces) => {
        const bytes = Buffer.concat(all.map((size) => framed(size)));
        const ends = all.reduce<readonly number[]>(
          (before, size) => [...before, (before.at(-1) ?? 0) + 5 + size],
          [],
        );
        const message = new HalfMessage();
        let at = 0;
        for (let turn = 0; at < bytes.length; turn += 1) {
          const next = Math.min(bytes.length, at + (pieces[turn % pieces.length] ?? 1));
          const last = Math.max(0, ...ends.filter((end) => end <= next));
          expect(message.take(bytes.subarray(at, next))).toBe(Math.max(0, next - last - 5));
          at = next;
        }
      }),
    );
  });
});

describe('messages of many streams', () => {
  const ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0)) await end();
  });

  async function listening() {
    const server = new Server({ 'grpc.max_receive_message_length': LIMIT });
    boundHalfMessages(server, new ArrivingBodies(4 * LIMIT));
    const bytes = (value: Buffer) => value;
    const method = {
      path: PATH,
      requestStream: false,
      responseStream: false,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    };
    const length = (call: { readonly request: Buffer }, done: sendUnaryData<Buffer>) =>
      done(null, Buffer.from(String(call.request.length)));
    server.addService({ Length: method }, { Length: length });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    ending.push(() => server.forceShutdown());
    return port;
  }

  function leave(session: ClientHttp2Session, size: number, declared: number) {
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined);
    stream.write(framed(declared, size));
    return stream;
  }

  it.each([
    ['are not whole', LIMIT],
    ['are whole, and their requests are not over', LIMIT - 1],
  ])(
    'that %s take so much together: those that began first are given up, and calls go on',
    async (_what, declared) => {
      const port = await listening();
      const session = connect(`http://127.0.0.1:${port}`);
      ending.push(() => session.destroy());
      const left = [...Array(10).keys()].map(() => leave(session, LIMIT - 1, declared));
      await vi.waitFor(() => expect(left.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(5), {
        timeout: 10_000,
      });
      expect(left.filter(({ closed }) => closed).map(({ rstCode }) => rstCode)).toEqual(
        left.filter(({ closed }) => closed).map(() => constants.NGHTTP2_ENHANCE_YOUR_CALM),
      );
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
      ending.push(() => client.close());
      const bytes = (value: Buffer) => value;
      for (const size of [2, LIMIT, LIMIT - 1]) {
        const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
          client.makeUnaryRequest(PATH, bytes, bytes, Buffer.alloc(size, 'x'), (error, reply) =>
            error === null ? resolve(reply) : reject(error),
          );
        });
        expect(String(answer)).toBe(String(size));
      }
      expect(left.every(({ closed }) => closed)).toBe(false);
    },
  );
});
