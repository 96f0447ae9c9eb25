// Baseline of asynchronous calls: a bare BullMQ queue and worker in one process, as many jobs at once as the gateway.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const connect = () => new Redis(process.argv[2], { maxRetriesPerRequest: null });
const options = { prefix: 'bare' };
const queue = new Queue('jobs', { connection: connect(), ...options });
let left = 0;
const worker = new Worker(
  'jobs',
  async (job) => {
    left -= 1;
    if (left === 0) process.send('done');
    return job.data;
  },
  { connection: connect(), concurrency: 32, ...options },
);
/** As many callers as the load on the gateway has, each waiting for its job to be taken in. */
process.on('message', (count) => {
  left = count;
  let next = 0;
  const caller = async () => {
    while (next < count) {
      next += 1;
      await queue.add(
        'echo',
        { text: 'the quick brown fox jumps over the lazy dog' },
        { removeOnComplete: true, attempts: 1 },
      );
    }
  };
  for (let n = 0; n < 32; n += 1) void caller();
});
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
process.send({});
process.on('SIGTERM', () => process.exit(0));
