// What a folder on the disk really takes while programs write to it: what has a name, and what has none any more.
import { lstat, opendir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What a name costs besides its content, and where counting ends: nobody needs more. */
const ENTRY_BYTES = 1024;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 32;
const BLOCK_BYTES = 512;
const PF_EXITING = 0x4;

/**
 * Bytes below `root`, links not followed; Infinity where there are too many names to count, or too deep. Rejects where a
 * folder is shut to its own owner. The figure is for limits, not for accounts.
 */
export async function namedBytes(root: string): Promise<number> {
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: root, depth: 0 }];
  let bytes = 0;
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (folder.depth > MAX_DEPTH) return Infinity;
    try {
      for await (const entry of await opendir(folder.path)) {
        entries += 1;
        if (entries > MAX_ENTRIES) return Infinity;
        const path = join(folder.path, entry.name);
        const { blocks } = await lstat(path).catch(() => ({ blocks: 0 }));
        bytes += blocks * BLOCK_BYTES + ENTRY_BYTES;
        if (entry.isDirectory()) folders.push({ path, depth: folder.depth + 1 });
      }
    } catch (error) {
      // Removed meanwhile: the space is free, or held by a descriptor.
      if (!hasGone(error)) throw error;
    }
  }
  return bytes;
}

/**
 * Bytes of files without a name on the disk of `folder` that the process group holds, open or mapped. Infinity where a
 * process hides what it holds. A file that is only mapped counts as the largest there may be.
 */
export async function unnamedBytes(group: number, folder: string, largestFile: number): Promise<number> {
  const { dev } = await stat(folder);
  const open = new Map<number, number>();
  const mapped = new Set<number>();
  for (const thread of await threadsOf(await membersOf(group))) {
    try {
      for (const fd of await readdir(`${thread}/fd`)) {
        const file = await stat(`${thread}/fd/${fd}`).catch(() => undefined);
        if (file?.isFile() === true && file.nlink === 0 && file.dev === dev) {
          open.set(file.ino, file.blocks * BLOCK_BYTES);
        }
      }
      const maps = await readFile(`${thread}/maps`, 'utf8');
      for (const inode of deletedIn(maps, folder)) mapped.add(inode);
    } catch (error) {
      if (!hasGone(error) && !(await isEnding(thread))) return Infinity;
    }
  }
  const onlyMapped = [...mapped].filter((inode) => !open.has(inode));
  return [...open.values()].reduce((sum, bytes) => sum + bytes, onlyMapped.length * largestFile);
}

function deletedIn(maps: string, folder: string): readonly number[] {
  return maps
    .split('\n')
    .filter((line) => line.endsWith(' (deleted)'))
    .map((line) => /^\S+ \S+ \S+ \S+ (\d+) +(\/.*)$/.exec(line))
    .filter((found) => found?.[2]?.startsWith(`${folder}/`) === true)
    .map((found) => Number(found?.[1]));
}

/** Each may have descriptors of its own, and the first may end before the others. */
async function threadsOf(pids: readonly number[]): Promise<readonly string[]> {
  const threads = pids.map(async (pid) => {
    const ids = await readdir(`/proc/${pid}/task`).catch(() => []);
    return ids.map((id) => `/proc/${pid}/task/${id}`);
  });
  return (await Promise.all(threads)).flat();
}

/** Of one that ends, the kernel shows an ordinary user nothing: what it holds is let go in this moment. */
async function isEnding(thread: string): Promise<boolean> {
  const [state = 'X', ...numbers] = fieldsOf(await readFile(`${thread}/stat`, 'utf8').catch(() => ''));
  return 'ZX'.includes(state) || (Number(numbers[5]) & PF_EXITING) !== 0;
}

/** Behind the name, which may hold anything: state, parent, group, session, terminal, its group, flags. */
function fieldsOf(stat: string): readonly string[] {
  const end = stat.lastIndexOf(')');
  return end < 0 ? [] : stat.slice(end + 2).split(' ');
}

/** Nobody leaves the group: the filter refuses it. */
async function membersOf(group: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const members: number[] = [];
  for (const pid of pids) {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (Number(fieldsOf(line)[2]) === group) members.push(pid);
  }
  return members;
}

function hasGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'ENOTDIR'].includes(String(error.code))
  );
}
