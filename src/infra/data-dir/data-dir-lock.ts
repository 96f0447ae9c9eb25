// One process at a time in an embedded database: a file beside it that names the process, left behind only by a crash.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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
  mkdirSync(dirname(path), { recursive: true });
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, `${process.pid} ${startOf(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 0) throw error;
      const holder = holderOf(path);
      if (holder !== undefined) throw new DataDirInUse(dataDir, holder, error);
      rmSync(path, { force: true });
    }
  }
}

/** The living process that holds the lock. A number alone is not enough: the system gives it out again. */
function holderOf(path: string): number | undefined {
  const [id = '', start = ''] = readFileSync(path, 'utf8').trim().split(' ');
  const pid = Number(id);
  if (!Number.isInteger(pid) || pid < 1) return undefined;
  if (pid === process.pid && start === startOf(pid)) return pid;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined;
  }
  return start === startOf(pid) ? pid : undefined;
}

/** When a process began, as the system counts; the same for every process where the system does not tell. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}
