// A free port for a server that starts later, or comes back, while something asks for it again and again.
import { createServer } from 'node:net';

/**
 * Below those that the system gives to connections: one to a port where nobody listens may be given that very port as its own,
 * and is then connected to itself.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
