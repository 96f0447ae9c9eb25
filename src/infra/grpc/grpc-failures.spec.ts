// What grpc-js says in place of an upstream that has run the method: never that nothing was done, nor that it may pass.
import { createServer, constants, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { RecordingMetrics } from '../../../test/helpers/python-ports.ts';
import { GrpcJsUpstreams } from './grpc-js-upstreams.ts';

const LIMIT = 10_000;
const CONTENT = { ':status': 200, 'content-type': 'application/grpc' };
const TOO_LARGE = `Received message larger than max (20000 vs ${LIMIT})`;
const UNPACKS = `Received message that decompresses to a size larger than ${LIMIT}`;
const BROKEN = 'Failed to decompress gzip-encoded message';
const RESET = 'Bandwidth exhausted or memory limit exceeded';

type Answer = (stream: ServerHttp2Stream) => void;

let server: Http2Server;
let upstreams: GrpcJsUpstreams;
afterEach(async () => {
  await upstreams.close();
  server.close();
});

/** What a call of an upstream fails with that answers so, once it has the whole request. */
async function failing(answer: Answer): Promise<unknown> {
  server = createServer().on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.resume().on('end', () => answer(stream));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  upstreams = new GrpcJsUpstreams(new RecordingMetrics());
  const egress = { allowHosts: [], allowPorts: [port], allowPrivate: ['127.0.0.0/8'] };
  return upstreams
    .open({ host: '127.0.0.1', port, tls: undefined, egress, maxMessageBytes: LIMIT })
    .call({
      path: '/a.B/C',
      message: new Uint8Array(),
      metadata: {},
      timeoutMs: 10_000,
      signal: AbortSignal.timeout(20_000),
      onMessage: () => undefined,
    })
    .catch((error: unknown) => error);
}

/** One message with the mark of a packed one. */
function packed(coding: string | undefined, bytes: Uint8Array): Answer {
  return (stream) => {
    const head = Buffer.from([1, 0, 0, 0, 0]);
    head.writeUInt32BE(bytes.length, 1);
    stream.respond(
      { ...CONTENT, ...(coding !== undefined && { 'grpc-encoding': coding }) },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat([head, bytes]));
  };
}

describe('an answer that was run for', () => {
  const large = Buffer.alloc(LIMIT + 1);
  const broken = Buffer.from('no such coding');

  it.each<[string, Answer]>([
    ['gzip', packed('gzip', gzipSync(large))],
    ['deflate', packed('deflate', deflateSync(large))],
    ['no coding at all', packed(undefined, large)],
  ])(
    'and unpacks from %s to more than the limit is too large, and may have done something',
    async (_, answer) => {
      expect(await failing(answer)).toMatchObject({
        type: 'OUTPUT_TOO_LARGE',
        retryable: false,
        partialSideEffects: undefined,
        details: { max_bytes: LIMIT },
      });
    },
  );

  it.each<[string, Answer]>([
    ['broken gzip', packed('gzip', broken)],
    ['gzip that is cut short', packed('gzip', gzipSync(large).subarray(0, 15))],
    ['broken deflate', packed('deflate', broken)],
    ['a coding that nobody asked for', packed('br', broken)],
    ['a coding that is not named', packed(undefined, broken)],
  ])('and comes in %s is no answer, and may have done something', async (_, answer) => {
    expect(await failing(answer)).toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'UNREADABLE_ENCODING',
      retryable: false,
      partialSideEffects: undefined,
    });
  });
});

it.each<[string, Answer]>([
  ['before an answer', (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)],
  [
    'with its connection, in the middle of one',
    (stream) => {
      stream.respond(CONTENT);
      setImmediate(() => stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM));
    },
  ],
  [
    'with its connection, before an answer',
    (stream) => stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM),
  ],
])('a call that is reset as one of too many %s may have done something', async (_, answer) => {
  expect(await failing(answer)).toMatchObject({
    type: 'RATE_LIMIT',
    origin: 'tool',
    reason: 'GRPC_RESOURCE_EXHAUSTED',
    partialSideEffects: undefined,
  });
});

describe('an upstream that says the same words itself', () => {
  it.each<[number, string]>([
    [8, TOO_LARGE],
    [8, UNPACKS],
    [8, RESET],
    [13, BROKEN],
  ])('in place of an answer is taken at its status: %i %s', async (code, words) => {
    const failure = await failing((stream) =>
      stream.respond(
        { ...CONTENT, 'grpc-status': String(code), 'grpc-message': encodeURI(words) },
        { endStream: true },
      ),
    );
    expect(failure).toMatchObject({ name: 'GrpcStatusError', code, message: words });
  });

  it('of a limit that is not ours is taken at its status, wherever it says so', async () => {
    const words = 'Received message larger than max (20000 vs 4000)';
    const failure = await failing((stream) => {
      stream.respond(CONTENT, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '8', 'grpc-message': words }));
      stream.end();
    });
    expect(failure).toMatchObject({ name: 'GrpcStatusError', code: 8, message: words });
  });
});
