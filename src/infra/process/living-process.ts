// Whether a process that a file names is still there. A number alone is not enough: the system gives it out again.
import { readFileSync } from 'node:fs';

/** When a process began, as the system counts; the same for every process where the system does not tell. */
export function startOfProcess(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

export function isLiving(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  if (pid === process.pid) return start === startOfProcess(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return start === startOfProcess(pid);
}
