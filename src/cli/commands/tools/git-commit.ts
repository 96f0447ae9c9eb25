// The commit that a folder is checked out at, read from its .git: no program is started for it.
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

const HASH = /^[0-9a-f]{40,64}$/;

/** Null where the folder is in no repository, or it cannot be read. */
export async function gitCommitOf(folder: string): Promise<string | null> {
  const git = await gitFolderOf(resolve(folder));
  if (git === undefined) return null;
  const head = (await textOf(join(git, 'HEAD'))) ?? '';
  if (HASH.test(head)) return head;
  const ref = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
  if (ref === undefined || ref.includes('..')) return null;
  const common = resolve(git, (await textOf(join(git, 'commondir'))) ?? '.');
  const loose = (await textOf(join(git, ref))) ?? (await textOf(join(common, ref))) ?? '';
  if (HASH.test(loose)) return loose;
  const packed = (await textOf(join(common, 'packed-refs'))) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`)) ?? '';
  const [commit = ''] = line.split(' ');
  return HASH.test(commit) ? commit : null;
}

async function gitFolderOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, '.git');
    const about = await stat(found).catch(() => undefined);
    if (about?.isDirectory() === true) return found;
    // A worktree.
    if (about?.isFile() === true) {
      const named = /^gitdir: (.+)$/.exec((await textOf(found)) ?? '')?.[1];
      return named === undefined ? undefined : resolve(at, named);
    }
    if (dirname(at) === at) return undefined;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}
