// A server that comes in a package: what its installation does to the connection, and what it does not.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { RecordingMetrics } from '../../../test/helpers/python-ports.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { McpServerSettings } from '../../ports/egress/mcp-servers.ts';
import type { ProcessSpawner } from '../../ports/egress/process-spawner.ts';
import { UndiciHttpClient } from '../http/undici-http-client.ts';
import { SdkMcpServers } from './sdk-mcp-servers.ts';
import type { Packages } from './start/started-from.ts';

const SETTINGS: McpServerSettings = {
  kind: 'stdio',
  argv: [],
  package: {
    packages: [{ registry: 'npm', name: 'slow', extras: [], version: '1.2.3' }],
    scripts: false,
  },
  cwd: '/',
  env: {},
  sandbox: 'required',
  readable: [],
  writable: [],
  network: 'none',
  memoryBytes: 1 << 30,
  maxProcesses: 8,
  protocol: 'legacy',
  limits: { connectTimeoutMs: 10_000, maxMessageBytes: 1 << 20, maxTools: 10, maxFailuresPerMinute: 2 },
};

function open(ready: Packages['ready']) {
  const spawner: ProcessSpawner = { spawn: () => expect.unreachable('it is not installed') };
  return new SdkMcpServers({
    spawner,
    packages: { ready },
    http: new UndiciHttpClient(),
    clock: new FakeClock(),
    log: quietLog,
    metrics: new RecordingMetrics(),
    random: () => 0,
  }).open(SETTINGS, []);
}
const call = { tool: 'a', arguments: {}, tenant: 'acme' };

it.each(['a call', 'a load'])(
  'closing ends the installation that %s waits for, and waits for nothing',
  async (who) => {
    let ended: unknown;
    const began = Promise.withResolvers<void>();
    // Never settles by itself: a close that waited for it would not return.
    const server = open((_, __, signal) => {
      began.resolve();
      return new Promise((___, reject) =>
        signal.addEventListener('abort', () => {
          ended = signal.reason;
          reject(signal.reason);
        }),
      );
    });
    const { signal } = new AbortController();
    const waiting = who === 'a call' ? server.callTool({ ...call, signal }) : server.prepare(signal);
    const refused = waiting.catch((error: unknown) => error);
    await began.promise;
    await server.close();
    expect(await refused).toMatchObject({ reason: 'DRAINING' });
    expect(ended).toMatchObject({ reason: 'DRAINING' });
  },
);

it('an installation that fails says so each time, and spends nothing of what the server may fail', async () => {
  const server = open(() => Promise.reject(toolFailure('PACKAGE_NOT_INSTALLED', 'It is not installed.')));
  const reasons: string[] = [];
  for (let n = 0; n < 5; n += 1)
    await server
      .callTool({ ...call, signal: new AbortController().signal })
      .catch(({ reason }: { reason: string }) => reasons.push(reason));
  expect(reasons).toEqual(Array.from({ length: 5 }, () => 'PACKAGE_NOT_INSTALLED'));
  await server.close();
});
