// Whether a process that a file names is still there. A number alone is not enough: the system gives it out again.
import { readFileSync } from 'node:fs';

/** When a process began, as the system counts; the same for every process where the system does not tell. */
export function startOfProcess(pid: number): string {
  return fieldsOf(pid)[19] ?? '-';
}

/** Of /proc/<pid>/stat, from the state on. Empty where the system does not tell. */
function fieldsOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** It has ended, and its parent has not asked how yet: a signal still finds it. */
const ENDED: ReadonlySet<string | undefined> = new Set(['Z', 'X']);

export function isLiving(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  if (pid === process.pid) return start === startOfProcess(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return start === startOfProcess(pid) && !ENDED.has(fieldsOf(pid)[0]);
}
