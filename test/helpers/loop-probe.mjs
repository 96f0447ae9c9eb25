// Preloaded into a gateway under test (--import): on SIGUSR2 says on stderr how long its event loop was held at most since the last time.
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 2;

/** CPU time of this thread counts, not the clock: what other processes of the machine take is no fault of the loop's. */
function now() {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1_000 };
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
    process.stderr.write(`the loop was held for ${longest.toFixed(1)} ms\n`);
    longest = 0;
  });
}
