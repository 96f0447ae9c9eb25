// Work measured by the processor time of this thread: what else runs on the machine makes it no longer.

/** In milliseconds. What other threads do meanwhile is not counted. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const startedAt = process.threadCpuUsage();
  await work();
  return msSince(startedAt);
}

/** Something else may fall into any one run, such as a collection of garbage; what is costly by itself is so in each. */
const TRIES = 20;

/** The least that was seen of `work` over `reference`, run in turn; it looks no further once that is below `enough`. */
export function leastCpuRatio(work: () => unknown, reference: () => unknown, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least >= enough; tries += 1)
    least = Math.min(least, cpuMs(work) / Math.max(1, cpuMs(reference)));
  return least;
}

function cpuMs(run: () => unknown): number {
  const startedAt = process.threadCpuUsage();
  run();
  return msSince(startedAt);
}

function msSince(startedAt: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(startedAt);
  return (user + system) / 1_000;
}
