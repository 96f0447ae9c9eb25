// One process at a time in an embedded database: a file beside it that names the process, left behind only by a crash.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../lib/files/make-folders.ts';
import { isLiving, startOfProcess } from '../process/living-process.ts';

export class DataDirInUse extends Error {
  constructor(dataDir: string, holder: number, cause: unknown) {
    super(
      `the embedded database in ${dataDir} is in use by process ${holder}: stop it, or set UTE_DATABASE_URL`,
      { cause },
    );
    this.name = 'DataDirInUse';
  }
}

/** Throws DataDirInUse when another process is in it. The function that is returned gives it free again. */
export function lockDataDir(dataDir: string): () => void {
  const path = `${dataDir}.lock`;
  makeFolders(dirname(path));
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, `${process.pid} ${startOfProcess(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 0) throw error;
      const holder = holderOf(path);
      if (holder !== undefined) throw new DataDirInUse(dataDir, holder, error);
      rmSync(path, { force: true });
    }
  }
}

/** The living process that holds the lock. */
function holderOf(path: string): number | undefined {
  const [id = '', start = ''] = readFileSync(path, 'utf8').trim().split(' ');
  const pid = Number(id);
  return isLiving(pid, start) ? pid : undefined;
}
