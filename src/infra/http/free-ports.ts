// Whether the ports of the doors can be had: asked before anything is started, and told of all of them at once.
import { createServer } from 'node:net';
import type { Settings } from '../../settings/settings-schema.ts';

interface WantedPort {
  /** The setting, and its variable. */
  readonly setting: string;
  readonly port: number;
}

/** Throws Error with a line for each port that cannot be had. */
export async function checkPorts({ role, host, http, grpc, metrics }: Settings): Promise<void> {
  const doors = [
    { setting: 'http.port (UTE_HTTP_PORT)', port: http.port },
    { setting: 'grpc.port (UTE_GRPC_PORT)', port: grpc.port },
  ];
  const wanted = [
    ...(role === 'worker' ? [] : doors),
    { setting: 'metrics.port (UTE_METRICS_PORT)', port: metrics.port },
  ];
  // 0 is any that is free.
  const fixed = wanted.filter(({ port }) => port !== 0);
  const found = await Promise.all(fixed.map((each) => problemOf(host, each)));
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

function problemOf(host: string, { setting, port }: WantedPort): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === undefined ? undefined : REASONS[code];
      resolve(`${setting} is ${port}, ${why?.(host) ?? `which cannot be opened on ${host}: ${message}`}`);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

const REASONS: Readonly<Record<string, (host: string) => string>> = {
  EADDRINUSE: (host) => `which another program on ${host} uses: end that, or set another`,
  EACCES: () => 'which this user may not open: set one above 1023',
  EADDRNOTAVAIL: (host) => `but host (UTE_HOST) is ${host}, which is no address of this machine`,
};
