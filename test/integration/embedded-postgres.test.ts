// The embedded database as a server of the gateway's own: where it is, who gets in, and how it ends.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, Pool, type PoolConfig } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { placeBinaries } from '../../src/infra/embedded-postgres/placement.ts';
import { findPostgres, makeLinks } from '../../src/infra/embedded-postgres/postgres-package.ts';
import { readPidFile } from '../../src/infra/embedded-postgres/stale-server.ts';
import { embeddedServer, type TestServer } from '../helpers/embedded-postgres.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const IS_ROOT = process.getuid?.() === 0;
const SHARED = '/var/lib/unified-tool-executor';
const POLL = { timeout: 20_000, interval: 20 };

const started: TestServer[] = [];
const folders: string[] = [];
const start = (dataDir?: string, log = quietLog) => {
  const embedded = embeddedServer(dataDir, log);
  started.push(embedded);
  return embedded;
};
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'ute-e-'));
  folders.push(made);
  return made;
};

afterEach(async () => {
  for (const embedded of started.splice(0)) await embedded.end();
  for (const each of folders.splice(0)) removeDir(each);
});

async function ask(config: PoolConfig, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const clusterOf = (dataDir: string) => join(realpathSync(join(dataDir, 'postgres')), 'cluster');
const serverOf = (dataDir: string) => readPidFile(clusterOf(dataDir))?.pid ?? 0;

describe('the embedded database', () => {
  it('listens on a socket alone, and its files are closed to all others', async () => {
    const { server, dataDir } = start();
    const config = await server.pool();
    expect(await ask(config, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    const modes = new Set(
      readdirSync(clusterOf(dataDir), { recursive: true, withFileTypes: true }).map(
        (entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o077,
      ),
    );
    expect(modes).toEqual(new Set([0]));
    expect(statSync(String(config.host)).mode & 0o777).toBe(0o700);
    expect(statSync(join(String(config.host), '.s.PGSQL.5432')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'postgres/password')).mode & 0o777).toBe(0o600);
    // Root's own; the server's user goes through it, and reads nothing in it.
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(IS_ROOT ? 0o710 : 0o700);
  });

  it('lets nobody in without the password, over the socket too', async () => {
    const config = await start().server.pool();
    for (const password of ['', 'wrong', undefined])
      await expect(ask({ ...config, password }, 'SELECT 1')).rejects.toThrow(/password/);
    expect(await ask(config, 'SELECT rolpassword FROM pg_authid WHERE rolcanlogin')).toEqual([
      { rolpassword: expect.stringMatching(/^SCRAM-SHA-256\$/) as string },
    ]);
    expect(await ask(config, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules')).toEqual([
      { auth_method: 'scram-sha-256' },
    ]);
  });

  it('as root, is a user that is nobody else’s', async () => {
    const { server, dataDir } = start();
    await server.start();
    const { uid } = statSync(`/proc/${serverOf(dataDir)}`);
    const isNobodyElses =
      uid >= 60_578 && uid <= 61_183 && !readFileSync('/etc/passwd', 'utf8').includes(`:${uid}:`);
    expect(IS_ROOT ? isNobodyElses : uid === process.getuid?.()).toBe(true);
    expect(statSync(clusterOf(dataDir)).uid).toBe(uid);
  });

  it('keeps what was committed over a restart, as the same user', async () => {
    const first = start();
    await ask(await first.server.pool(), "CREATE TABLE kept AS SELECT 'kept' AS text");
    const { uid } = statSync(clusterOf(first.dataDir));
    await first.server.stop();
    const again = start(first.dataDir);
    expect(await ask(await again.server.pool(), 'SELECT text FROM kept')).toEqual([{ text: 'kept' }]);
    expect(statSync(clusterOf(first.dataDir)).uid).toBe(uid);
  });

  it('has its socket in a private folder of its own where data_dir is too long for one', async () => {
    const dir = join(folder(), 'l'.repeat(60), 'o'.repeat(60));
    if (IS_ROOT) chmodSync(dirname(dirname(dir)), 0o711);
    const { server } = start(dir);
    const config = await server.pool();
    expect(String(config.host)).not.toContain(dir);
    expect(server.places).toContain(config.host);
    expect(statSync(String(config.host)).mode & 0o777).toBe(0o700);
    expect(await ask(config, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(existsSync(String(config.host))).toBe(false);
  });

  it('is started again when it ends by itself, and connections come back', async () => {
    const { server, dataDir } = start();
    const pool = new Pool({ ...(await server.pool()), max: 1 });
    pool.on('error', () => undefined);
    await pool.query('SELECT 1');
    const before = serverOf(dataDir);
    process.kill(before, 'SIGKILL');
    // Its processes see its end one after the other, and answer until then.
    await expect.poll(() => serverOf(dataDir), POLL).not.toBe(before);
    await expect
      .poll(async () => (await pool.query('SELECT 1 AS one').catch(() => undefined))?.rows, POLL)
      .toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('tells that it recovers', async () => {
    const { server, dataDir } = start();
    await server.start();
    const told = server.recovering();
    process.kill(serverOf(dataDir), 'SIGKILL');
    await told;
    expect(server.hasRecovered).toBe(true);
  });

  it('takes no process for its server that has only got its number', async () => {
    const first = start();
    await first.server.start();
    const before = serverOf(first.dataDir);
    await first.server.stop();
    const left = [process.ppid, clusterOf(first.dataDir), 1, 5432, '/nowhere', '', 1, 'ready'].join('\n');
    writeFileSync(join(clusterOf(first.dataDir), 'postmaster.pid'), `${left}\n`);
    const again = start(first.dataDir);
    await again.server.start();
    expect(serverOf(first.dataDir)).not.toBe(process.ppid);
    expect(serverOf(first.dataDir)).not.toBe(before);
    // The process that had its number is still there.
    expect(() => process.kill(process.ppid, 0)).not.toThrow();
  });

  it('refuses a cluster of another PostgreSQL, and names the version of the gateway that can export it', async () => {
    const first = start();
    await first.server.start();
    await first.server.stop();
    const home = realpathSync(join(first.dataDir, 'postgres'));
    writeFileSync(join(home, 'cluster/PG_VERSION'), '17\n');
    writeFileSync(join(home, 'made-by.json'), '{"gateway":"0.0.9","postgres":"17.1.0"}');
    await expect(start(first.dataDir).server.start()).rejects.toThrow(
      /is of PostgreSQL 17, and this version has PostgreSQL 18: export it with .*unified-tool-executor 0\.0\.9: ute database export/,
    );
  });

  it('refuses the folder of a version that kept its records in PGlite, and says where the way out is', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'database'));
    writeFileSync(join(dir, 'database/PG_VERSION'), '17\n');
    await expect(start(dir).server.start()).rejects.toThrow(
      /database holds the records of a version that kept them in PGlite: .*docs\/embedded-database\.md/,
    );
    expect(existsSync(join(dir, 'postgres'))).toBe(false);
  });

  it('starts where only the gateway’s own user gets in, below a home of root say', async () => {
    const home = folder();
    const dataDir = join(home, 'checkout/data');
    expect(statSync(home).mode & 0o777).toBe(0o700);
    const { server } = start(dataDir);
    expect(await ask(await server.pool(), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(lstatSync(join(dataDir, 'postgres')).isSymbolicLink()).toBe(IS_ROOT);
    const place = realpathSync(join(dataDir, 'postgres'));
    expect(place.startsWith(IS_ROOT ? SHARED : home)).toBe(true);
    expect(server.places).toContain(SHARED);
    await server.stop();
    removeDir(place);
  });
});

it('as root, leaves no database behind for an empty one where a folder above it was closed', async () => {
  const home = folder();
  chmodSync(home, 0o711);
  const dataDir = join(home, 'data');
  const first = start(dataDir);
  await ask(await first.server.pool(), 'CREATE TABLE kept (n int)');
  await first.server.stop();
  chmodSync(home, 0o700);
  const { server } = start(dataDir);
  const said = await server.pool().then(
    (config) => ask(config, 'SELECT count(*)::int AS n FROM kept'),
    (error: Error) => error.message,
  );
  const refused = expect.stringMatching(/who cannot enter .*: open the folder again \(chmod o\+x /) as string;
  expect(said).toEqual(IS_ROOT ? refused : [{ n: 0 }]);
});

describe('the binaries', () => {
  it('are copied where the user can run them, if it cannot where npm put them', () => {
    const found = findPostgres();
    const [closed, shared] = [folder(), folder()];
    chmodSync(shared, 0o755);
    spawnSync('cp', ['-a', found.root, join(closed, 'native')]);
    const user = { uid: 60_600, gid: 60_600 };
    const place = placeBinaries({ ...found, root: join(closed, 'native') }, user, shared, shared);
    expect(place.startsWith(shared)).toBe(true);
    const asUser = IS_ROOT ? user : {};
    const { stdout } = spawnSync(join(place, 'bin/postgres'), ['--version'], { ...asUser, encoding: 'utf8' });
    expect(stdout).toContain(`PostgreSQL) ${found.major}`);
    expect(placeBinaries({ ...found, root: join(closed, 'native') }, user, shared, shared)).toBe(place);
  });

  it('get the links that an install script would have made', () => {
    const found = findPostgres();
    const root = folder();
    mkdirSync(join(root, 'lib'));
    for (const [target] of found.links) writeFileSync(join(root, 'lib', target), '');
    expect(makeLinks({ root, links: found.links })).toBe(true);
    for (const [, link] of found.links) expect(existsSync(join(root, 'lib', link))).toBe(true);
    expect(makeLinks({ root, links: found.links })).toBe(true);
  });

  it('of a platform that has none, and of an install without optional packages, are one line with the setting', () => {
    const none = () => {
      throw new Error('no such package');
    };
    expect(() => findPostgres('linux-mips', none)).toThrow(
      /^there is no embedded database for linux-mips: set database\.url \(UTE_DATABASE_URL\)/,
    );
    expect(() => findPostgres('linux-x64', none)).toThrow(
      /^the package @embedded-postgres\/linux-x64 is not installed .*: set database\.url/,
    );
  });
});
