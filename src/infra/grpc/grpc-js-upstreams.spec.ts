// Channels to gRPC upstreams: where they may lead, whom they trust, and what a failed one says of what was done.
import { ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeOutside } from '../../../test/helpers/fake-outside.ts';
import { grpcServer, type GrpcServer } from '../../../test/helpers/grpc-upstream.ts';
import { RecordingMetrics } from '../../../test/helpers/python-ports.ts';
import { selfSignedCertificate } from '../../../test/helpers/self-signed-certificate.ts';
import type { GrpcCall, GrpcUpstreamSettings } from '../../ports/egress/grpc-upstreams.ts';
import { GrpcJsUpstreams } from './grpc-js-upstreams.ts';

const open: { upstreams: GrpcJsUpstreams[]; servers: GrpcServer[] } = { upstreams: [], servers: [] };
afterEach(async () => {
  for (const each of open.upstreams.splice(0)) await each.close();
  for (const each of open.servers.splice(0)) each.stop();
});
async function server(...said: Parameters<typeof grpcServer>): Promise<GrpcServer> {
  const started = await grpcServer(...said);
  open.servers.push(started);
  return started;
}
const DENIED = { type: 'PERMANENT', reason: 'EGRESS_DENIED', retryable: false, partialSideEffects: false };

function settingsOf(port: number, more: Partial<GrpcUpstreamSettings> = {}): GrpcUpstreamSettings {
  return {
    host: '127.0.0.1',
    port,
    tls: undefined,
    egress: { allowHosts: [], allowPorts: [port], allowPrivate: ['127.0.0.0/8'] },
    maxMessageBytes: 1 << 20,
    ...more,
  };
}

function call(settings: GrpcUpstreamSettings, more: Partial<GrpcCall> = {}, outside?: FakeOutside) {
  const upstreams = new GrpcJsUpstreams(new RecordingMetrics(), outside);
  open.upstreams.push(upstreams);
  return upstreams.open(settings).call({
    path: '/kitchen.v1.Kitchen/Metadata',
    message: new Uint8Array(),
    metadata: {},
    timeoutMs: 10_000,
    signal: AbortSignal.timeout(20_000),
    onMessage: () => undefined,
    ...more,
  });
}

describe('an address', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['private', '10.0.0.1'],
    ['a metadata service', '169.254.169.254'],
    ['loopback in IPv6', '[::1]'],
    ['loopback mapped into IPv6', '[::ffff:127.0.0.1]'],
  ])('that is %s is not reached unless its range is allowed', async (_, host) => {
    const { port } = await server();
    const egress = { allowHosts: [], allowPorts: [port], allowPrivate: [] };
    await expect(call(settingsOf(port, { host, egress }))).rejects.toMatchObject(DENIED);
    expect(open.servers[0]?.seen).toEqual([]);
  });

  it.each([
    ['one private answer among public ones', ['93.184.216.34', '10.0.0.1']],
    ['a metadata service behind a name', ['169.254.169.254']],
  ])('of a name is looked at in every answer: %s', async (_, addresses) => {
    const outside = new FakeOutside().name('grpc.example.com', ...addresses);
    const settings = settingsOf(443, {
      host: 'grpc.example.com',
      egress: { allowHosts: ['grpc.example.com'], allowPrivate: [] },
    });
    await expect(call(settings, {}, outside)).rejects.toMatchObject(DENIED);
  });

  it('of a host or a port that is not among those allowed is not even looked up', async () => {
    const outside = new FakeOutside().name('grpc.example.com', '93.184.216.34');
    for (const egress of [
      { allowHosts: ['other.example.com'], allowPrivate: [] },
      { allowHosts: ['grpc.example.com'], allowPrivate: [] },
    ])
      await expect(
        call(settingsOf(8443, { host: 'grpc.example.com', egress }), {}, outside),
      ).rejects.toMatchObject(DENIED);
  });

  it('is looked up by the gateway’s own resolver, and dialled as it was checked', async () => {
    const { port, seen } = await server();
    const outside = new FakeOutside().name('grpc.example.com', '127.0.0.1');
    await call(settingsOf(port, { host: 'grpc.example.com' }), {}, outside);
    expect(seen).toHaveLength(1);
  });

  it('is reached without the proxy of the environment', async () => {
    const { port, seen } = await server();
    process.env['grpc_proxy'] = process.env['http_proxy'] = 'http://127.0.0.1:9';
    try {
      await call(settingsOf(port));
    } finally {
      delete process.env['grpc_proxy'];
      delete process.env['http_proxy'];
    }
    expect(seen).toHaveLength(1);
  });
});

describe('TLS', () => {
  it('trusts the CA that is said, for the name that is said, and nobody else', async () => {
    const { cert, key } = selfSignedCertificate();
    const credentials = ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
    const { port, seen } = await server({ credentials });
    const ca = cert.toString();
    for (const tls of [{ ca }, { ca, serverName: 'localhost' }]) await call(settingsOf(port, { tls }));
    expect(seen).toHaveLength(2);
    for (const tls of [{}, { ca, serverName: 'other.test' }, { ca: selfSignedCertificate().cert.toString() }])
      await expect(call(settingsOf(port, { tls }), { timeoutMs: 5_000 })).rejects.toMatchObject({
        reason: 'CONNECT_FAILED',
      });
    // Without TLS, it is not spoken to at all.
    await expect(call(settingsOf(port), { timeoutMs: 5_000 })).rejects.toMatchObject({ type: 'UNAVAILABLE' });
    expect(seen).toHaveLength(2);
  });
});

describe('a failure', () => {
  it('before there was a connection says that nothing was done', async () => {
    const started = await server();
    started.stop();
    await expect(call(settingsOf(started.port))).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECT_FAILED',
      partialSideEffects: false,
    });
  });

  it('in the middle of a call says that something may have been', async () => {
    const started = await server();
    const waiting = call(settingsOf(started.port), { path: '/kitchen.v1.Kitchen/Hang' }).catch(
      (error: unknown) => error,
    );
    await expect.poll(() => started.seen.length).toBe(1);
    started.drop();
    expect(await waiting).toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'CONNECTION_LOST',
      partialSideEffects: undefined,
    });
  });

  it('of the caller’s patience reaches the upstream, with the signal’s reason', async () => {
    const started = await server();
    const gone = new AbortController();
    const waiting = call(settingsOf(started.port), {
      path: '/kitchen.v1.Kitchen/Hang',
      signal: gone.signal,
    }).catch((error: unknown) => error);
    await expect.poll(() => started.seen.length).toBe(1);
    gone.abort(new Error('gone'));
    expect(await waiting).toMatchObject({ message: 'gone' });
    await expect.poll(() => started.seen[0]?.cancelled).toBe(true);
  });

  it('after it is closed says so', async () => {
    const { port } = await server();
    const upstreams = new GrpcJsUpstreams(new RecordingMetrics());
    const upstream = upstreams.open(settingsOf(port));
    await upstreams.close();
    const signal = AbortSignal.timeout(5_000);
    await expect(
      upstream.call({
        path: '/x/Y',
        message: new Uint8Array(),
        metadata: {},
        timeoutMs: 1_000,
        signal,
        onMessage: () => undefined,
      }),
    ).rejects.toMatchObject({ reason: 'DRAINING' });
  });
});

it('messages are handed on one by one: a reader that takes its time is not overrun', async () => {
  const { port } = await server();
  let reading = 0;
  let most = 0;
  let count = 0;
  const done = call(settingsOf(port), {
    path: '/kitchen.v1.Kitchen/Count',
    message: Uint8Array.from([0x08, 20]),
    onMessage: async () => {
      reading += 1;
      count += 1;
      most = Math.max(most, reading);
      await new Promise((resolve) => setImmediate(resolve));
      reading -= 1;
    },
  });
  await done;
  expect([count, most]).toEqual([20, 1]);
});
