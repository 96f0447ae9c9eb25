// A PostgreSQL as one elsewhere, of the binaries that the gateway embeds: its own cluster in a temp dir, on a free loopback port, gone at the end.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { freePort } from './free-port.ts';
import { placeBinaries } from '../../src/infra/embedded-postgres/placement.ts';
import { findPostgres } from '../../src/infra/embedded-postgres/postgres-package.ts';
import { childrenOf } from './gateway-process.ts';
import type { ServerUser } from '../../src/infra/embedded-postgres/server-user.ts';
import { removeDir } from './temp-tools.ts';

export interface Postgres {
  readonly port: number;
  /** For the superuser, or another login; no password is asked for on loopback. */
  url(user?: string, port?: number): string;
  /** Runs SQL as the superuser. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** The same cluster again, as after a crash: what was committed is there. */
  restart(): Promise<void>;
  /** Ends the server at once: no answer, no connection. */
  kill(): Promise<void>;
  /** It and all that serves a connection answer nobody. */
  pause(): void;
  resume(): void;
  /** A replica of it that follows, and takes no writes. */
  standby(): Promise<Standby>;
  stop(): Promise<void>;
}

export type Standby = Pick<Postgres, 'url' | 'sql' | 'kill' | 'stop'>;

const SUPERUSER = 'root_of_all';
const START_WITHIN_MS = 30_000;

/** `initSql` runs once, as the superuser. */
export async function startPostgres(initSql = '', sharedBuffers = '16MB'): Promise<Postgres> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-postgres-'));
  const user = ordinaryUser(dir);
  const bin = join(placeBinaries(findPostgres(), user, dir), 'bin');
  const data = join(dir, 'data');
  const { UTE_TEST_POSTGRES: template } = process.env;
  // To make a cluster costs a second of a processor, to copy one a twentieth.
  if (template === undefined) makeData(bin, data, dir, user);
  else runToEnd('cp', ['-a', template, data]);
  const port = await freePort();
  writeFileSync(join(data, 'postgresql.auto.conf'), configuration(port, sharedBuffers));
  const launch = () => spawn(join(bin, 'postgres'), ['-D', data], { ...user, cwd: dir, stdio: 'ignore' });
  let server = launch();
  const url = (who = SUPERUSER, at = port) => `postgres://${who}@127.0.0.1:${at}/postgres`;
  const kill = () => end(server);
  const stop = async () => {
    await kill();
    removeDir(dir);
  };
  try {
    let pool = await connected(url(), server);
    if (initSql !== '') await pool.query(initSql);
    return {
      port,
      url,
      sql: async (text, values) => (await pool.query<Record<string, unknown>>(text, values)).rows,
      kill,
      pause: () => signalAll(server, 'SIGSTOP'),
      resume: () => signalAll(server, 'SIGCONT'),
      restart: async () => {
        await kill();
        await pool.end();
        server = launch();
        pool = await connected(url(), server);
      },
      standby: async () => {
        const copy = await standbyOf(dir, user, pool, port);
        const own = spawn(join(bin, 'postgres'), ['-D', copy.data], {
          ...user,
          cwd: copy.dir,
          stdio: 'ignore',
        });
        const itsPool = await connected(url(SUPERUSER, copy.port), own);
        return {
          url: (who) => url(who, copy.port),
          sql: async (text, values) => (await itsPool.query<Record<string, unknown>>(text, values)).rows,
          kill: () => end(own),
          stop: async () => {
            await itsPool.end();
            await end(own);
            removeDir(copy.dir);
          },
        };
      },
      stop: async () => {
        await pool.end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A cluster that no server has run on, for `UTE_TEST_POSTGRES`. */
export function makeTemplate(): { readonly data: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'ute-postgres-template-'));
  const user = ordinaryUser(dir);
  const data = join(dir, 'data');
  makeData(join(placeBinaries(findPostgres(), user, dir), 'bin'), data, dir, user);
  return { data, remove: () => removeDir(dir) };
}

function makeData(bin: string, data: string, cwd: string, user: ServerUser | undefined): void {
  const options = ['-U', SUPERUSER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  runToEnd(join(bin, 'initdb'), ['-D', data, ...options], { ...user, cwd });
}

function runToEnd(program: string, args: readonly string[], options: object = {}): void {
  const { status, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

/** By the server's own backup functions: the binaries have no pg_basebackup. */
async function standbyOf(from: string, user: ServerUser | undefined, pool: Pool, primary: number) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-standby-'));
  const [data, port] = [join(dir, 'data'), await freePort()];
  const client = await pool.connect();
  await client.query("SELECT pg_backup_start('standby', true)");
  cpSync(join(from, 'data'), data, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
  const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  client.release();
  const follows = `primary_conninfo = 'host=127.0.0.1 port=${primary} user=${SUPERUSER}'\n`;
  writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '');
  writeFileSync(join(data, 'standby.signal'), '');
  writeFileSync(join(data, 'postgresql.auto.conf'), configuration(port, '16MB') + follows);
  chmodSync(data, 0o700);
  if (user !== undefined) {
    const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
    for (const path of [dir, ...paths]) chownSync(path, user.uid, user.gid);
  }
  return { dir, data, port };
}

function configuration(port: number, sharedBuffers: string): string {
  return [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    "unix_socket_directories = ''",
    'fsync = off',
    'max_connections = 60',
    `shared_buffers = ${sharedBuffers}`,
    '',
  ].join('\n');
}

/** initdb refuses root; nobody's own uid does. */
function ordinaryUser(dir: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const nobody = { uid: 65_534, gid: 65_534 };
  chownSync(dir, nobody.uid, nobody.gid);
  return nobody;
}

async function connected(url: string, server: ChildProcess): Promise<Pool> {
  const giveUpAt = Date.now() + START_WITHIN_MS;
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  for (;;) {
    const error = await pool.query('SELECT 1').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) return pool;
    if (server.exitCode !== null || Date.now() > giveUpAt) {
      await pool.end();
      throw new Error('PostgreSQL did not start', { cause: error });
    }
    await pause(25);
  }
}

function signalAll(server: ChildProcess, signal: NodeJS.Signals): void {
  const { pid = 0 } = server;
  for (const each of [pid, ...childrenOf(pid)]) process.kill(each, signal);
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = new Promise((done) => server.once('exit', done));
  // Immediate shutdown: no checkpoint, nobody is waited for.
  server.kill('SIGQUIT');
  await exited;
}
