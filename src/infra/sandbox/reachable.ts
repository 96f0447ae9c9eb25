// Whether the user that tools run as can come to a path at all: a gateway that is root often stands below a home that is closed to others.
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Owner } from './workspace/workspace-files.ts';

const READ = 4;
const PASS = 1;

/** The outermost folder above `path` that this user may not pass, its links followed. Undefined where there is none. */
export function barrierAbove(path: string, user: Owner): string | undefined {
  const above: string[] = [];
  for (let folder = dirname(realpathSync(path)); folder !== '/'; folder = dirname(folder)) above.push(folder);
  return above.toReversed().find((folder) => !allows(statSync(folder), PASS, user));
}

interface Permissions {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export function mayRead(permissions: Permissions, user: Owner): boolean {
  return allows(permissions, READ, user);
}

export function mayPass(permissions: Permissions, user: Owner): boolean {
  return allows(permissions, PASS, user);
}

/** As the kernel decides: the first that fits of owner, group and others. Access lists may allow more; they are not asked. */
function allows({ mode, uid, gid }: Permissions, right: number, user: Owner): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & right) !== 0;
}

/** Throws a sentence for the operator that names the folder in the way. `user`: undefined where tools run as the gateway's own. */
export function refuseUnreachable(paths: readonly string[], user: Owner | undefined): void {
  if (user === undefined) return;
  for (const path of paths) {
    const barrier = barrierAbove(path, user);
    if (barrier !== undefined) throw unreachable(path, barrier, user);
  }
}

export function unreachable(path: string, barrier: string, { uid }: Owner): Error {
  return new Error(
    `${path} cannot be shown in the sandbox: tools run as the user ${uid}, who may not pass ${barrier}. Run "chmod o+x ${barrier}", keep it in another folder, or run the gateway as a user of its own.`,
  );
}
