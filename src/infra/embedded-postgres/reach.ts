// Whether another user can get at a file: every folder above it lets that user through.
import { statSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import type { ServerUser } from './server-user.ts';

const READ = 0o4;
const SEARCH = 0o1;

/** The outermost of the folders above `path` that the user may not pass; undefined: all let it through. */
export function closedFolder(path: string, user: ServerUser): string | undefined {
  const above: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    above.unshift(folder);
    if (folder === parse(folder).root) break;
  }
  return above.find((folder) => !may(folder, user, SEARCH));
}

/** Whether the user may read a file, and run it. */
export function canRun(path: string, user: ServerUser): boolean {
  return closedFolder(path, user) === undefined && may(path, user, READ | SEARCH);
}

export function canRead(path: string, user: ServerUser): boolean {
  return closedFolder(path, user) === undefined && may(path, user, READ);
}

/** By the classic permissions, as the kernel reads them: the first class that fits decides. */
export function may(path: string, { uid, gid }: ServerUser, wanted: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0;
  return ((stat.mode >> shift) & wanted) === wanted;
}
