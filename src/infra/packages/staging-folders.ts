// Folders that packages are installed in before they are whole: each says whose it is, so that what a killed process left
// behind can be removed by the next one, and nothing that is under way.
import { hash, randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isLiving, startOfProcess } from '../process/living-process.ts';
import { letThrough } from '../sandbox/let-through.ts';
import { barrierAbove } from '../sandbox/reachable.ts';
import type { Owner } from '../sandbox/workspace/workspace-files.ts';

const UNFINISHED = '.installing-';
const OWN = /^\.installing-([0-9a-f]{12})\.(\d+)\.(\d+|-)\./;
/** Longer than any installation may take, whoever's it is. */
const OVER_MS = 24 * 3_600_000;

export interface StagingPlace {
  readonly root: string;
  /** Above it, and the gateway's own: opened for the sandbox's user as far as it has to be. */
  readonly dataDir: string;
  /** Whom programs in the sandbox run as, where the gateway is root. */
  readonly user: Owner | undefined;
}

/** Gives what `work` gives; the folder is gone afterwards, unless it was renamed. */
export async function inStaging<Result>(
  place: StagingPlace,
  confined: boolean,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { pid } = process;
  const name = `${UNFINISHED}${namespaceMark()}.${pid}.${startOfProcess(pid)}.${randomUUID()}`;
  const folder = join(place.root, name);
  try {
    mkdirSync(join(folder, '.tmp'), { recursive: true, mode: 0o755 });
    if (confined) openFor(place, folder);
    return await work(folder);
  } finally {
    // What the work threw says more than that something could not be removed; the next start tries again.
    await removeTree(folder).catch(() => undefined);
  }
}

/** Removes what processes that are gone have left. Gives how many folders those were. */
export async function sweepStaging(root: string, nowMs: number): Promise<number> {
  const names = (await readdir(root).catch(() => [])).filter((name) => name.startsWith(UNFINISHED));
  let swept = 0;
  for (const name of names) {
    const path = join(root, name);
    if (!(await isLeft(name, path, nowMs))) continue;
    await removeTree(path);
    swept += 1;
  }
  return swept;
}

async function isLeft(name: string, path: string, nowMs: number): Promise<boolean> {
  const [, mark, pid, start = ''] = OWN.exec(name) ?? [];
  if (mark === namespaceMark()) return !isLiving(Number(pid), start);
  // On a volume that machines or containers share, numbers of processes say nothing.
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && nowMs - found.mtimeMs > OVER_MS;
}

/** Where numbers of processes mean the same. */
function namespaceMark(): string {
  let place = hostname();
  try {
    place = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Not Linux: the machine's name has to do.
  }
  return hash('sha256', place).slice(0, 12);
}

function openFor({ root, dataDir, user }: StagingPlace, folder: string): void {
  if (user === undefined) return;
  for (const each of [folder, join(folder, '.tmp')]) chownSync(each, user.uid, user.gid);
  if (`${root}/`.startsWith(`${dataDir}/`)) letThrough(dataDir, user);
  letThrough(root, user);
  const barrier = barrierAbove(folder, user);
  if (barrier === undefined) return;
  throw new Error(
    `programs in the sandbox run as the user ${user.uid}, who may not pass ${barrier}: set executors.mcp.packages_dir, or run "chmod o+x ${barrier}"`,
  );
}

/** Code of a package may have closed folders: then they are opened first. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openFolders(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openFolders(path: string): Promise<void> {
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = next;
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory()) waiting.push(join(folder, entry.name));
  }
}
