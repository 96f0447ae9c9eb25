// How much more processor time of this thread one piece of work takes than another: the same on a slow machine and on a busy one.

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
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
