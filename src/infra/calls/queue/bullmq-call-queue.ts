// BullMqCallQueue: CallQueue on Redis. A job is the id of a call that waits and nothing else; it wakes one replica with capacity.
import type { Queue, Worker } from 'bullmq';
import { settledWithin } from '../../../lib/timers/settled-within.ts';
import type { CallQueue, CallListener } from '../../../ports/calls/call-queue.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { RedisClients } from '../../redis/redis-clients.ts';

export interface BullMqQueueDeps {
  readonly redis: RedisClients;
  readonly clock: Clock;
  readonly log: Log;
}

const QUEUE = 'calls';
/** One replica adds no more than one job in so much time: whoever is woken takes all that it has capacity for. */
const GATHER_MS = 50;
/** Jobs of one replica that wait at the same time. */
const OUTSTANDING = 8;
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5_000;
const CLOSE_WITHIN_MS = 2_000;

/** No second attempt and no recovery by BullMQ: whether a call may run again is for its row to say. */
const JOB = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

export class BullMqCallQueue implements CallQueue {
  readonly #deps: BullMqQueueDeps;
  readonly #replica = crypto.randomUUID();
  /** Needs a Redis that answers: made when it is first used. */
  #queue: Promise<Queue> | undefined;
  #worker: Promise<Worker> | undefined;
  #listener: CallListener | undefined;
  /** Announced last, and not to the others yet. */
  #unannounced: string | undefined;
  #gathering: (() => void) | undefined;
  #jobs = 0;
  #resting = false;
  #stopped = false;

  constructor(deps: BullMqQueueDeps) {
    this.#deps = deps;
  }

  offer(id: string): void {
    if (this.#listener?.(id, false) !== true) this.pass(id);
  }

  pass(id: string): void {
    this.#unannounced = id;
    if (this.#gathering === undefined) this.#announce();
  }

  start(listener: CallListener): void {
    this.#listener = listener;
    this.#worker = this.#startWorker();
    this.#worker.catch((error: unknown) => {
      this.#deps.log.error(
        { err: error },
        'the BullMQ worker did not start: asynchronous calls are found by polling the database',
      );
    });
  }

  listen(): void {
    if (!this.#resting || this.#stopped) return;
    this.#resting = false;
    this.#onWorker((worker) => worker.resume());
  }

  stop(): void {
    this.#stopped = true;
    this.#listener = undefined;
    this.#onWorker((worker) => worker.pause(true));
  }

  async close(): Promise<void> {
    this.stop();
    this.#gathering?.();
    const closing = Promise.allSettled([
      this.#worker?.then((worker) => worker.close()),
      this.#queue?.then((queue) => queue.close()),
    ]);
    // Without a Redis that answers, BullMQ would wait for one.
    await settledWithin(this.#deps.clock, CLOSE_WITHIN_MS, closing);
  }

  #announce(): void {
    const id = this.#unannounced;
    this.#unannounced = undefined;
    this.#gathering = undefined;
    if (id === undefined) return;
    this.#gathering = this.#deps.clock.after(GATHER_MS, () => this.#announce());
    void this.#add(id);
  }

  /** A job of the same name that waits still does as well as another one. */
  async #add(id: string): Promise<void> {
    this.#jobs = (this.#jobs + 1) % OUTSTANDING;
    try {
      const queue = await this.#opened();
      await queue.add('call', { id }, { ...JOB, jobId: `${this.#replica}.${this.#jobs}` });
    } catch (error) {
      this.#deps.log.debug(
        { callId: id, err: error },
        'the other replicas were not told of a call that waits',
      );
    }
  }

  /** Without capacity it is for others, and this replica takes no more jobs until it has some. */
  #wake(id: string): void {
    if (this.#listener?.(id, true) === true) return;
    if (!this.#resting) {
      this.#resting = true;
      this.#onWorker((worker) => worker.pause(true));
    }
    this.pass(id);
  }

  #onWorker(act: (worker: Worker) => unknown): void {
    void this.#worker?.then(act).catch(() => undefined);
  }

  async #startWorker(): Promise<Worker> {
    const { redis, log } = this.#deps;
    const { Worker } = await import('bullmq');
    const worker = new Worker<{ readonly id?: unknown }>(
      QUEUE,
      async ({ data }) => this.#wake(typeof data.id === 'string' ? data.id : ''),
      {
        connection: redis.blocking(),
        prefix: redis.prefixOf('queue'),
        concurrency: 1,
        maxStalledCount: 0,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
      },
    );
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
      prefix: redis.prefixOf('queue'),
      skipWaitingForReady: true,
      skipVersionCheck: true,
    });
    queue.on('error', (error) => log.debug({ err: error }, 'the queue in Redis has trouble'));
    return queue;
  }
}
