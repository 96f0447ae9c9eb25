// Failpoints: places where a test lets the process die as by kill -9. Without NODE_ENV=test there are none.

export type Failpoint =
  'before_execution' | 'after_execution_before_commit' | 'while_queued' | 'while_renewing';

export type ReachFailpoint = (name: Failpoint) => void;

/** The one that `UTE_FAILPOINT` names ends the process at once, `name:2` when it is reached again; all others do nothing. */
export function failpoints(env: Readonly<Record<string, string | undefined>>): ReachFailpoint {
  const chosen = env['NODE_ENV'] === 'test' ? env['UTE_FAILPOINT'] : undefined;
  const [point, times = '1'] = chosen?.split(':') ?? [];
  let left = Number(times);
  return (name) => {
    if (name !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
