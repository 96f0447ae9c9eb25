// A real PgBouncer in transaction mode before a PostgreSQL of the test, on a free loopback port.
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { removeDir } from './temp-tools.ts';

export interface PgBouncer {
  url(user: string): string;
  stop(): Promise<void>;
}

/** With few connections to the server, so that clients have to share them. `users` are let in without a password. */
export async function startPgBouncer(serverPort: number, users: readonly string[]): Promise<PgBouncer> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-pgbouncer-'));
  const port = await freePort();
  writeFileSync(join(dir, 'users.txt'), users.map((user) => `"${user}" ""\n`).join(''));
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    [
      '[databases]',
      `postgres = host=127.0.0.1 port=${serverPort} dbname=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(dir, 'users.txt')}`,
      'pool_mode = transaction',
      'default_pool_size = 4',
      'max_client_conn = 200',
      '',
    ].join('\n'),
  );
  // It refuses root; nobody's own uid does.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid !== undefined) chownSync(dir, user.uid, user.gid);
  const server = spawn(program(), ['-q', join(dir, 'pgbouncer.ini')], { ...user, cwd: dir, stdio: 'ignore' });
  const exited = new Promise((done) => server.once('exit', done));
  await eventually(() => answers(port), 'PgBouncer');
  return {
    url: (name) => `postgres://${name}@127.0.0.1:${port}/postgres`,
    async stop() {
      server.kill('SIGKILL');
      await exited;
      removeDir(dir);
    },
  };
}

function program(): string {
  const dirs = ['/usr/sbin', '/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = dirs.map((dir) => join(dir, 'pgbouncer')).find((path) => existsSync(path));
  if (found === undefined) throw new Error('There is no pgbouncer.');
  return found;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
