// Preloaded into a gateway under test (--import): on SIGUSR2 says on stderr how long its event loop was held at most since the last
// time, and how much slower than usual the machine is just then.
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 2;

/** CPU time of this thread counts, not the clock: what other processes of the machine take is no fault of the loop's. */
function now() {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1_000 };
}

/** What this takes on an ordinary machine that has nothing else to do. */
const USUAL_MS = 4;
const NUMBERS = Array.from({ length: 50_000 }, (_, at) => at / 3);

/** Other work takes the caches away, and half of a core that two threads share: processor time is longer by that. */
function slowness() {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const { cpu } = now();
    JSON.parse(JSON.stringify(NUMBERS));
    least = Math.min(least, now().cpu - cpu);
  }
  return Math.max(1, least / USUAL_MS);
}

if (isMainThread) {
  let longest = 0;
  let last = now();
  const look = () => {
    const current = now();
    longest = Math.max(longest, Math.min(current.wall - last.wall, current.cpu - last.cpu));
    last = current;
  };
  setInterval(look, EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    look();
    process.stderr.write(`the loop was held for ${(longest / slowness()).toFixed(1)} ms\n`);
    longest = 0;
    last = now();
  });
}
