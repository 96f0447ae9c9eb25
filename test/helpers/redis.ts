// A real Redis for tests: a server of its own on a free loopback port, nothing on disk, gone at the end.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { Redis } from 'ioredis';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** A connection for the test's own commands. */
  readonly client: Redis;
  /** The same port again, empty. */
  restart(): Promise<void>;
  /** The server does nothing any more, and its connections stay: what it is sent meanwhile it does when it is resumed. */
  pause(): void;
  resume(): void;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
  /** It answers nobody, and all that is sent to it waits. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const START_WITHIN_MS = 15_000;

/** `args` go behind the defaults: `['--maxmemory', '8mb']`. `own`: instead of the defaults, a file and arguments. */
export async function startRedis(
  args: readonly string[] = [],
  own?: { readonly conf: string; readonly args: readonly string[] },
): Promise<RedisServer> {
  const all = own === undefined ? [...DEFAULTS, ...args] : [own.conf, ...own.args];
  const { port, server: first } = await launchSomewhere(all);
  const start = () => launch(port, all);
  let server = first;
  const client = clientAt(port);
  const kill = () => end(server);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    kill,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    async restart() {
      await kill();
      server = start();
      await answers(client, server);
    },
    async stop() {
      client.disconnect();
      await kill();
    },
  };
}

/** A port that was free may be another's by then, and a node of a cluster takes one ten thousand above as well: so it is tried again. */
async function launchSomewhere(
  args: readonly string[],
  tries = 5,
): Promise<{ readonly port: number; readonly server: ChildProcess }> {
  const port = await freePort();
  const server = launch(port, args);
  const client = clientAt(port);
  try {
    await answers(client, server);
    return { port, server };
  } catch (error) {
    await end(server);
    if (tries === 1) throw error;
    return await launchSomewhere(args, tries - 1);
  } finally {
    client.disconnect();
  }
}

function clientAt(port: number): Redis {
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 25, maxRetriesPerRequest: null });
  return client.on('error', () => {});
}

const DEFAULTS = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];

function launch(port: number, args: readonly string[]): ChildProcess {
  const where = ['--port', String(port), '--bind', '127.0.0.1'];
  return spawn(binary(), [...args, ...where], { cwd: tmpdir(), stdio: 'ignore' });
}

function binary(): string {
  const dirs = ['/usr/bin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = dirs.map((dir) => join(dir, 'redis-server')).find((path) => existsSync(path));
  if (found === undefined) throw new Error('There is no redis-server.');
  return found;
}

async function answers(client: Redis, server: ChildProcess): Promise<void> {
  const giveUp = Date.now() + START_WITHIN_MS;
  while ((await Promise.race([client.ping().catch(() => ''), pause(500)])) !== 'PONG') {
    if (server.exitCode !== null || Date.now() > giveUp) throw new Error('Redis did not start');
    await pause(20);
  }
  // Another one may have its port, and have answered.
  await pause(20);
  if (server.exitCode !== null) throw new Error('Redis did not start');
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = new Promise((done) => server.once('exit', done));
  server.kill('SIGKILL');
  await exited;
}
