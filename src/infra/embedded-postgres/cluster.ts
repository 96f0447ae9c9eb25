// The cluster on the disk: made once by initdb, configured anew at each start, refused where it is another version's.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../version.ts';
import { EmbeddedPostgresError, SET_A_URL } from './embedded-postgres-error.ts';
import { initdbFailure } from './initdb-failure.ts';
import type { Placement } from './placement.ts';
import type { PostgresPackage } from './postgres-package.ts';
import { accountForInitdb, type ServerUser } from './server-user.ts';

/** The superuser, who owns the gateway's tables: the gateway's own connections alone. */
export const SUPERUSER = 'ute';
/** The gateway's records; tools have databases of their own. */
export const DATABASE = 'postgres';

const MADE_BY = 'made-by.json';
const UNFINISHED = 'unfinished';

/** Throws EmbeddedPostgresError where a newer or older PostgreSQL made it: it cannot be read. */
export function checkCluster({ home, cluster }: Placement, { major }: PostgresPackage): void {
  const made = versionOf(cluster);
  if (made === undefined || made === major) return;
  throw new EmbeddedPostgresError(
    `the embedded database in ${cluster} is of PostgreSQL ${made}, and this version has PostgreSQL ${major}: export it with the version that used it last (unified-tool-executor ${gatewayOf(home)}: ute database export <folder>), then set another data_dir and run "ute database import <folder>"`,
  );
}

function versionOf(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

function gatewayOf(home: string): string {
  try {
    return (JSON.parse(readFileSync(join(home, MADE_BY), 'utf8')) as { gateway: string }).gateway;
  } catch {
    return 'of that time';
  }
}

/** What the next version reads, should it have another PostgreSQL. */
export function markCluster({ home }: Placement, { version }: PostgresPackage): void {
  writeFileSync(join(home, MADE_BY), `${JSON.stringify({ gateway: VERSION, postgres: version })}\n`, {
    mode: 0o600,
  });
}

/** Throws EmbeddedPostgresError for the folder of a version that kept its records in PGlite. */
export function refusePglite(dataDir: string): void {
  const folder = join(dataDir, 'database');
  if (!existsSync(join(folder, 'PG_VERSION'))) return;
  throw new EmbeddedPostgresError(
    `${folder} holds the records of a version that kept them in PGlite: take them along as docs/embedded-database.md says, or move the folder away`,
  );
}

/** Whole or not at all; gives back whether there was none yet. */
export async function makeCluster(place: Placement, binaries: string, sandboxUid: number): Promise<boolean> {
  const { home, cluster, user } = place;
  const unfinished = join(home, UNFINISHED);
  rmSync(unfinished, { recursive: true, force: true });
  if (existsSync(cluster)) return false;
  const password = randomBytes(24).toString('base64url');
  const maker = user && { uid: accountForInitdb(sandboxUid), gid: user.gid };
  const made = join(unfinished, 'cluster');
  const passwordFile = join(unfinished, 'password');
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (maker !== undefined) for (const path of [unfinished, passwordFile]) handOver(path, maker);
    await initdb(binaries, ['-D', made, `--pwfile=${passwordFile}`], maker, unfinished);
    if (user !== undefined) {
      // First the folder around it: nobody else is in it while it changes hands.
      chownSync(unfinished, 0, user.gid);
      chmodSync(unfinished, 0o700);
      handOverAll(made, user);
    }
    writeFileSync(place.passwordFile, `${password}\n`, { mode: 0o600 });
    renameSync(made, cluster);
    return true;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function handOver(path: string, { uid, gid }: ServerUser): void {
  try {
    lchownSync(path, uid, gid);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new EmbeddedPostgresError(
      `root cannot give files to another user here (${code} at ${path}), and PostgreSQL does not run as root: ${SET_A_URL}`,
      error,
    );
  }
}

function handOverAll(folder: string, user: ServerUser): void {
  handOver(folder, user);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    handOver(join(entry.parentPath, entry.name), user);
}

const INITDB = [
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  // Small files of the log: an empty database takes less room, and less time to make.
  '--wal-segsize=4',
  '--no-instructions',
];

function initdb(
  binaries: string,
  args: readonly string[],
  user: ServerUser | undefined,
  cwd: string,
): Promise<void> {
  const program = join(binaries, 'bin/initdb');
  const child = spawn(program, [...INITDB, ...args], {
    cwd,
    env: SERVER_ENV,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((done, failed) => {
    child.once('error', (error: NodeJS.ErrnoException) => failed(cannotRun(program, error)));
    child.once('close', (code, signal) => {
      if (code === 0) return done();
      failed(initdbFailure(said, signal ?? `exit code ${code}`));
    });
  });
}

export const SERVER_ENV = { LANG: 'C', LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' };

/** A program that is there and cannot be started lacks what it is linked to: the C library of these binaries is glibc. */
export function cannotRun(program: string, error: NodeJS.ErrnoException): EmbeddedPostgresError {
  const why =
    error.code === 'ENOENT' && existsSync(program)
      ? 'its C library (glibc) is not on this machine'
      : `${program}: ${error.code ?? error.message}`;
  return new EmbeddedPostgresError(`the embedded database cannot run here (${why}): ${SET_A_URL}`, error);
}

/** Written anew at each start: settings of another version do not stay. */
export function configureCluster({ cluster, user }: Placement, socketDir: string): void {
  const files = {
    'postgresql.conf': configuration(socketDir),
    'pg_hba.conf': 'local all all scram-sha-256\n',
    'pg_ident.conf': '',
    'postgresql.auto.conf': '',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(cluster, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    const owner = user ?? statSync(cluster);
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    lchownSync(path, owner.uid, owner.gid);
  }
}

function configuration(socketDir: string): string {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0600',
    // What tools take up leaves the gateway its own: those of a superuser, and of the role that adds records.
    max_connections: 100,
    superuser_reserved_connections: 5,
    reserved_connections: 25,
    shared_buffers: '32MB',
    maintenance_work_mem: '32MB',
    dynamic_shared_memory_type: 'mmap',
    max_worker_processes: 2,
    max_parallel_workers: 0,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    autovacuum_max_workers: 2,
    io_method: 'sync',
    huge_pages: 'off',
    jit: 'off',
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    // Bounds both the room of the log and what a recovery has to read.
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    checkpoint_timeout: '5min',
    log_destination: 'stderr',
    logging_collector: 'off',
    // Neither statements nor values: what failed is told to whoever asked.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_startup_progress_interval: '1s',
    log_line_prefix: '',
    log_timezone: 'UTC',
    timezone: 'UTC',
    datestyle: 'iso, ymd',
    lc_messages: 'C',
    default_text_search_config: 'pg_catalog.simple',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`)
    .join('');
}
