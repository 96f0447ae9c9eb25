// A server that outlived its gateway: found by postmaster.pid, known as this cluster's, ended before the next one starts.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

const LOOK_EVERY_MS = 25;
/** A server that writes its last checkpoint; after that it is ended as in a crash, which it survives. */
const FAST_WITHIN_MS = 30_000;
const IMMEDIATE_WITHIN_MS = 10_000;

/** Resolves when no server is in the cluster. Throws EmbeddedPostgresError where one is that cannot be ended from here. */
export async function endStaleServer(cluster: string): Promise<'none' | 'ended'> {
  const left = readPidFile(cluster);
  if (left === undefined) return 'none';
  const isOurs = isServerOf(left.pid, cluster);
  if (!isOurs) {
    if (await answers(left.socket))
      throw new EmbeddedPostgresError(
        `a PostgreSQL that cannot be seen from here is in ${cluster}, of another container perhaps: stop it, or set database.url (UTE_DATABASE_URL)`,
      );
    // The system gave its number to another process meanwhile: PostgreSQL would take that for a server.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return 'none';
  }
  for (const [signal, withinMs] of [
    ['SIGINT', FAST_WITHIN_MS],
    ['SIGQUIT', IMMEDIATE_WITHIN_MS],
  ] as const) {
    if (await ended(left.pid, cluster, signal, withinMs)) return 'ended';
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL with process number ${left.pid} is in ${cluster} and does not end: end it`,
  );
}

async function ended(
  pid: number,
  cluster: string,
  signal: NodeJS.Signals,
  withinMs: number,
): Promise<boolean> {
  const giveUpAt = performance.now() + withinMs;
  try {
    process.kill(pid, signal);
  } catch {
    return !isServerOf(pid, cluster);
  }
  while (isServerOf(pid, cluster)) {
    if (performance.now() > giveUpAt) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}

/** The process number of the server that runs in the cluster, and its socket, by the file that it keeps. */
export function readPidFile(cluster: string): { readonly pid: number; readonly socket: string } | undefined {
  try {
    const [pid = '', , , port = '5432', folder = ''] = readFileSync(
      join(cluster, 'postmaster.pid'),
      'utf8',
    ).split('\n');
    return { pid: Number(pid), socket: `${folder}/.s.PGSQL.${port}` };
  } catch {
    return undefined;
  }
}

/** A server's working directory is its cluster. Where there is no /proc, its command line names it. */
function isServerOf(pid: number, cluster: string): boolean {
  if (!Number.isInteger(pid) || pid < 2 || pid === process.pid) return false;
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === cluster && !isDead(pid);
    const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout.includes(cluster);
  } catch {
    return false;
  }
}

function isDead(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = createConnection(path);
    const end = (answer: boolean) => () => {
      socket.destroy();
      done(answer);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
  });
}
