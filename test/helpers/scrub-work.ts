// How much work scrubbing is, counted and not timed: in a thread of its own, whose code is counted from the first line on.
import { Worker } from 'node:worker_threads';

export interface ScrubJob {
  readonly secrets: readonly string[];
  readonly value: unknown;
}

/** In blocks of code that ran. */
export interface ScrubWork {
  readonly total: number;
  /** The most that was done without giving way. */
  readonly longestTurn: number;
}

/** One after the other. */
export function scrubWork(jobs: readonly ScrubJob[]): Promise<readonly ScrubWork[]> {
  const worker = new Worker(new URL('../fixtures/scrub-work.ts', import.meta.url), { workerData: jobs });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** What is scrubbed, in one size and in twice that size. */
export type Sized = (size: 1 | 2) => ScrubJob;

/** How many times the work of one size there is in two; and the longest turns. What secrets alone cost is left out of it. */
export async function growthOf(job: Sized): Promise<{ growth: number; longestTurns: readonly number[] }> {
  const bare = (size: 1 | 2): ScrubJob => ({ ...job(size), value: '' });
  const grows = job(1).secrets.join() !== job(2).secrets.join();
  const jobs = [job(1), job(2), bare(1), ...(grows ? [bare(2)] : [])];
  const [one, two, once, twice = once] = await scrubWork(jobs);
  if (one === undefined || two === undefined || once === undefined || twice === undefined)
    throw new Error('a job gave no answer');
  const reading = (two.total - twice.total) / (one.total - once.total);
  // Where the secrets grow too, taking them in is work like any other.
  const takingIn = twice.total / once.total;
  return { growth: Math.max(reading, takingIn), longestTurns: [one.longestTurn, two.longestTurn] };
}
