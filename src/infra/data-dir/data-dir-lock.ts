// One process at a time in an embedded database: a file beside it that names the process, left behind only by a crash.
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { makeFolders } from '../../lib/files/make-folders.ts';
import { holdThread } from '../../lib/timers/hold-thread.ts';
import { isLiving, startOfProcess } from '../process/living-process.ts';

/** Between a file that is made and its name in it are two system calls: after so long, whoever made it is dead. */
const UNNAMED_MS = 1_000;
const GIVE_UP_MS = 10_000;
const PAUSE_MS = 2;
/** A lock, the lock of whoever removes what a dead process left of it, and of what is left of that one. */
const LEVELS = 3;

export class DataDirInUse extends Error {
  constructor(dataDir: string, holder: number) {
    super(
      `the embedded database in ${dataDir} is in use by process ${holder}: stop it, or set UTE_DATABASE_URL`,
    );
    this.name = 'DataDirInUse';
  }
}

/** Throws DataDirInUse when another process is in it. The function that is returned gives it free again. */
export function lockDataDir(dataDir: string): () => void {
  const path = `${dataDir}.lock`;
  makeFolders(dirname(path));
  const holder = lockFile(path, LEVELS);
  if (holder !== undefined) throw new DataDirInUse(dataDir, holder);
  return () => rmSync(path, { force: true });
}

/** The living process that has it; undefined: this one has it now. */
function lockFile(path: string, levels: number): number | undefined {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  let unnamed: { readonly id: string; readonly since: number } | undefined;
  for (;;) {
    if (create(path)) return undefined;
    const found = lookAt(path);
    if (found === undefined) continue;
    const { id, text } = found;
    const [pid = '', start = ''] = text.trim().split(' ');
    if (isLiving(Number(pid), start)) return Number(pid);
    if (performance.now() > giveUpAt) throw new Error(`${path} is neither taken nor free: remove it`);
    if (text === '') {
      if (unnamed?.id !== id) unnamed = { id, since: performance.now() };
      if (performance.now() - unnamed.since < UNNAMED_MS) {
        holdThread(PAUSE_MS);
        continue;
      }
    }
    removeDead(path, id, levels);
  }
}

/**
 * Two that start at once both find what a dead process has left: one of them would remove what the other has made in its
 * place meanwhile. So only who holds a second lock removes anything, and looks again first.
 */
function removeDead(path: string, id: string, levels: number): void {
  const remover = `${path}.removing`;
  const isGuarded = levels > 1;
  if (isGuarded && lockFile(remover, levels - 1) !== undefined) return holdThread(PAUSE_MS);
  try {
    if (lookAt(path)?.id === id) rmSync(path, { force: true });
  } finally {
    if (isGuarded) rmSync(remover, { force: true });
  }
}

/** False: there is one already. */
function create(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, `${process.pid} ${startOfProcess(process.pid)}\n`);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

/** `id` tells it from another of the same name. Undefined: it is gone. */
function lookAt(path: string): { readonly id: string; readonly text: string } | undefined {
  try {
    const { ino, birthtimeNs } = statSync(path, { bigint: true });
    const text = readFileSync(path, 'utf8');
    return { id: `${ino} ${birthtimeNs} ${text}`, text };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
