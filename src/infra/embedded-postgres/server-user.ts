// Whom the embedded database runs as where the gateway is root: PostgreSQL refuses root, and no other program shares its user.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError, SET_A_URL } from './embedded-postgres-error.ts';

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Numbers that neither distributions, nor systemd, nor containers give to anybody. */
const FIRST = 60_578;
const COUNT = 606;

/** `cluster`: whoever owns it goes on to. `seed`: each gateway of a machine has another user. */
export function serverUser(cluster: string, seed: string, sandboxUid: number): ServerUser {
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) {
    if (owner.uid === sandboxUid)
      throw new EmbeddedPostgresError(
        `the embedded database in ${cluster} belongs to user ${owner.uid}, whom sandboxed tools run as: set executors.shell.uid to another`,
      );
    return { uid: owner.uid, gid: owner.gid };
  }
  const taken = new Set([sandboxUid, ...accounts().map(({ uid }) => uid)]);
  const start = createHash('sha256').update(seed).digest().readUInt32BE(0);
  for (let step = 0; step < COUNT; step += 1) {
    const uid = FIRST + ((start + step) % COUNT);
    if (!taken.has(uid)) return { uid, gid: uid };
  }
  throw new EmbeddedPostgresError(`no user number is free for the embedded database: ${SET_A_URL}`);
}

/** initdb asks for the name of whom it runs as: an account that lends its own until the files are handed over. */
export function accountForInitdb(sandboxUid: number): number {
  const found = accounts().filter(({ uid }) => uid !== 0 && uid !== sandboxUid);
  const usual = ['nobody', 'daemon', 'bin'];
  const chosen =
    usual.map((name) => found.find((account) => account.name === name)).find(Boolean) ?? found[0];
  if (chosen !== undefined) return chosen.uid;
  throw new EmbeddedPostgresError(
    `/etc/passwd knows nobody but root, and PostgreSQL does not run as root: ${SET_A_URL}`,
  );
}

function accounts(): readonly { readonly name: string; readonly uid: number }[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter(([name = '', , uid = '']) => name !== '' && /^\d+$/.test(uid))
      .map(([name = '', , uid]) => ({ name, uid: Number(uid) }));
  } catch {
    return [];
  }
}
