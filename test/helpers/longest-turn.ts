// Measures how long anything held the event loop without a break, while some work was done.
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * In milliseconds of this thread's own processor time, so that a busy machine does not count. Node 22 has it for the whole
 * process alone. A collection of garbage may fall into any one run: what holds the loop by itself does so in each of six.
 */
export async function longestTurn(work: () => Promise<unknown>, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 6 && least >= enough; run += 1) least = Math.min(least, await longestOf(work));
  return least;
}

async function longestOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const progress = { isOver: false };
  const watch = async (): Promise<void> => {
    let since = processorMs();
    while (!progress.isOver) {
      await nextTurn();
      const now = processorMs();
      longest = Math.max(longest, now - since);
      since = now;
    }
  };
  const watching = watch();
  await nextTurn();
  try {
    await work();
    await nextTurn();
  } finally {
    progress.isOver = true;
    await watching;
  }
  return longest;
}

function processorMs(): number {
  const hasOwn = typeof process.threadCpuUsage === 'function';
  const { user, system } = hasOwn ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
}
