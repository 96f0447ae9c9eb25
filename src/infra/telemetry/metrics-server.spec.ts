// The metrics port answers each probe, also where the answer cannot be made.
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
