// A CallStore at whose steps a test lets the process die as by kill -9. Without NODE_ENV=test it is the store itself.
import type { CallStore } from '../../ports/calls/call-store.ts';

type Failpoint = 'while_queued' | 'before_execution' | 'after_execution_before_commit' | 'while_renewing';

/** The point that `UTE_FAILPOINT` names ends the process at once, `name:2` when it is reached again. */
export function dyingStore(store: CallStore, env: Readonly<Record<string, string | undefined>>): CallStore {
  const chosen = env['NODE_ENV'] === 'test' ? env['UTE_FAILPOINT'] : undefined;
  if (chosen === undefined) return store;
  const [point, times = '1'] = chosen.split(':');
  let left = Number(times);
  const failpoint = (name: Failpoint) => {
    if (name !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
  return {
    ...store,
    async accept(call, maxQueued, claim) {
      await store.accept(call, maxQueued, claim);
      failpoint('while_queued');
      if (claim !== undefined) failpoint('before_execution');
    },
    async claim(...terms) {
      const calls = await store.claim(...terms);
      for (const _call of calls) failpoint('before_execution');
      return calls;
    },
    renew(...claims) {
      failpoint('while_renewing');
      return store.renew(...claims);
    },
    finish(...end) {
      failpoint('after_execution_before_commit');
      return store.finish(...end);
    },
    giveBack(...terms) {
      failpoint('after_execution_before_commit');
      return store.giveBack(...terms);
    },
  };
}
