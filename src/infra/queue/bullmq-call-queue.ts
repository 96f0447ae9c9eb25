// BullMqCallQueue: CallQueue on Redis. A job is the id of a row and nothing else; what Redis loses is put there again.
import type { Queue, Worker } from 'bullmq';
import type { CallQueue } from '../../ports/call-queue.ts';
import type { CallStore, WaitingCall } from '../../ports/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RedisClients } from '../redis/redis-clients.ts';

export interface BullMqQueueDeps {
  readonly redis: RedisClients;
  readonly store: Pick<CallStore, 'waiting'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly awake: () => boolean;
}

const QUEUE = 'calls';
/** How often the rows are compared with the jobs, and how many of them at once. */
const RECONCILE_MS = 1_000;
const RECONCILED_AT_ONCE = 1_000;
/** Every so many looks, the jobs are put there without counting what is: a count can be right by chance. */
const UNCOUNTED_EVERY = 15;
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5_000;
const CLOSE_WITHIN_MS = 2_000;

/** No second attempt and no recovery by BullMQ: whether a call may run again is for its row to say. */
const JOB = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

interface Job {
  readonly name: string;
  readonly data: object;
  readonly opts: typeof JOB & { readonly jobId: string; readonly priority: number };
}

export class BullMqCallQueue implements CallQueue {
  readonly #deps: BullMqQueueDeps;
  /** Needs a Redis that answers: made when it is first used. */
  #queue: Promise<Queue> | undefined;
  #worker: Promise<Worker> | undefined;
  #disarm: (() => void) | undefined;
  #looks = 0;
  #stopped = false;

  constructor(deps: BullMqQueueDeps) {
    this.#deps = deps;
  }

  async offer(call: WaitingCall): Promise<void> {
    try {
      const { name, data, opts } = jobOf(call);
      await (await this.#opened()).add(name, data, opts);
    } catch (error) {
      this.#deps.log.debug({ callId: call.id, err: error }, 'a call was not put into Redis yet');
    }
  }

  start(run: (id: string) => Promise<boolean>, concurrency: number): void {
    this.#worker = this.#startWorker(run, concurrency);
    this.#worker.catch((error: unknown) => {
      this.#deps.log.error({ err: error }, 'the worker of asynchronous calls did not start');
    });
    this.#reconcileLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#disarm?.();
    void this.#worker?.then((worker) => worker.pause(true)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.stop();
    const closing = Promise.allSettled([
      this.#worker?.then((worker) => worker.close()),
      this.#queue?.then((queue) => queue.close()),
    ]);
    // Without a Redis that answers, BullMQ would wait for one.
    await Promise.race([
      closing,
      new Promise<void>((done) => void this.#deps.clock.after(CLOSE_WITHIN_MS, done)),
    ]);
  }

  async #startWorker(run: (id: string) => Promise<boolean>, concurrency: number): Promise<Worker> {
    const { redis, log } = this.#deps;
    const { Worker } = await import('bullmq');
    const worker = new Worker(QUEUE, async ({ id = '' }) => void (await run(id.slice(0, id.indexOf('.')))), {
      connection: redis.blocking(),
      prefix: redis.prefix,
      concurrency,
      maxStalledCount: 0,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
    });
    // The connections report their own trouble; here it would be said again for each of them.
    worker.on('error', (error) => log.debug({ err: error }, 'the queue in Redis has trouble'));
    if (this.#stopped) await worker.pause(true);
    return worker;
  }

  #opened(): Promise<Queue> {
    this.#queue ??= this.#openQueue();
    return this.#queue;
  }

  async #openQueue(): Promise<Queue> {
    const { redis, log } = this.#deps;
    const { Queue } = await import('bullmq');
    const queue = new Queue(QUEUE, {
      connection: redis.coordination,
      prefix: redis.prefix,
      skipWaitingForReady: true,
      skipVersionCheck: true,
    });
    queue.on('error', (error) => log.debug({ err: error }, 'the queue in Redis has trouble'));
    return queue;
  }

  #reconcileLater(): void {
    if (this.#stopped) return;
    this.#disarm = this.#deps.clock.after(RECONCILE_MS, () => void this.#reconcile());
  }

  /** Rows that wait without a job get one: Redis was flushed or away, a replica died, or their time has only now come. */
  async #reconcile(): Promise<void> {
    try {
      const waiting = this.#deps.awake() ? await this.#deps.store.waiting(RECONCILED_AT_ONCE) : [];
      if (waiting.length > 0 && (await this.#lacks(waiting.length))) await this.#putBack(waiting);
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'the queue in Redis could not be compared with the rows');
    }
    this.#reconcileLater();
  }

  async #lacks(rows: number): Promise<boolean> {
    this.#looks += 1;
    if (this.#looks % UNCOUNTED_EVERY === 0) return true;
    const { waiting = 0, prioritized = 0 } = await (
      await this.#opened()
    ).getJobCounts('waiting', 'prioritized');
    return waiting + prioritized < rows;
  }

  /** A job that is there already stays as it is. */
  async #putBack(waiting: readonly WaitingCall[]): Promise<void> {
    await (await this.#opened()).addBulk(waiting.map(jobOf));
  }
}

/** Of each wait another job: the one of a replica that died stays behind for as long as its lock does. */
function jobOf({ id, rank, claim }: WaitingCall): Job {
  return { name: 'call', data: {}, opts: { ...JOB, jobId: `${id}.${claim}`, priority: rank } };
}
