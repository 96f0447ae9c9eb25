// The metrics port answers each probe, also where the answer cannot be made.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { MetricsServer } from './metrics-server.ts';

it.each<[string, () => Promise<never>]>([
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
])('a readiness that %s is 500', async (_how, readiness) => {
  const metrics = { exposition: () => Promise.reject(new Error('no')) };
  const server = new MetricsServer({ metrics, readiness, anonymous: false });
  const port = await server.listen(0, '127.0.0.1');
  try {
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(500);
  } finally {
    await server.close();
  }
});

const WELL = {
  metrics: { exposition: async () => ({ contentType: 'text/plain', text: 'up 1' }) },
  readiness: () => ({ status: 200, body: {} }),
  anonymous: false,
};

it.each([
  ['says nothing', ''],
  ['never ends its headers', 'GET /livez HTTP/1.1\r\nHost: x\r\n'],
  ['never ends its body', 'POST /livez HTTP/1.1\r\nHost: x\r\ncontent-length: 9\r\n\r\n{'],
])('a connection that %s is ended', async (_what, said) => {
  const server = new MetricsServer({ ...WELL, patienceMs: 50 });
  const socket = connect(await server.listen(0, '127.0.0.1'), '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.resume().on('error', () => undefined);
    if (said !== '') socket.write(said);
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  } finally {
    socket.destroy();
    await server.close();
  }
});

it('a connection above the limit is refused, and those before it are answered', async () => {
  const server = new MetricsServer({ ...WELL, mostConnections: 1 });
  const port = await server.listen(0, '127.0.0.1');
  const first = connect(port, '127.0.0.1');
  try {
    await once(first, 'connect');
    const second = connect(port, '127.0.0.1');
    second.on('error', () => undefined).resume();
    await once(second, 'close');
    first.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String((await once(first, 'data'))[0])).toContain('200 OK');
  } finally {
    first.destroy();
    await server.close();
  }
});
