// Makes what asynchronous calls need from outside: rows in the database, a queue and hints on Redis where there is one.
import type { CallHints } from '../../ports/call-hints.ts';
import type { CallQueue } from '../../ports/call-queue.ts';
import type { CallStore } from '../../ports/call-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { WebhookStore } from '../../ports/webhook-store.ts';
import { openedLater } from '../database/opened-later.ts';
import type { Records } from '../database/records.ts';
import { failpoints, type ReachFailpoint } from '../failpoint.ts';
import { MemoryCallHints } from '../memory/memory-call-hints.ts';
import { RedisCallHints } from '../redis/redis-call-hints.ts';
import type { RedisClients } from '../redis/redis-clients.ts';
import { BullMqCallQueue } from './bullmq-call-queue.ts';
import { OwnCallQueue } from './own-call-queue.ts';

export interface AsyncParts {
  readonly store: CallStore;
  readonly webhooks: WebhookStore;
  readonly queue: CallQueue;
  readonly hints: CallHints;
  /** False while there is no database open: nothing can be waiting in one that nobody has needed yet. */
  readonly awake: () => boolean;
  readonly reach: ReachFailpoint;
}

export interface AsyncPartsNeeds {
  readonly records: Records;
  readonly redis: RedisClients | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a call may wait for its turn. */
  readonly maxWaitMs: number;
}

export function createAsyncParts({ records, redis, clock, log, maxWaitMs }: AsyncPartsNeeds): AsyncParts {
  const store = openedLater<CallStore>(
    once(async () => {
      const [database, { databaseCallStore }] = await Promise.all([
        records.database(),
        import('../database/call-store.ts'),
      ]);
      return databaseCallStore(database, maxWaitMs);
    }),
  );
  const webhooks = openedLater<WebhookStore>(
    once(async () => {
      const [database, { databaseWebhookStore }] = await Promise.all([
        records.database(),
        import('../database/webhook-store.ts'),
      ]);
      return databaseWebhookStore(database);
    }),
  );
  const awake = () => records.state === 'open';
  const queue = redis === undefined ? new OwnCallQueue() : new BullMqCallQueue({ redis, clock, log });
  const hints = redis === undefined ? new MemoryCallHints() : new RedisCallHints(redis, log);
  return { store, webhooks, queue, hints, awake, reach: failpoints(process.env) };
}

/** Opened once; a failure is tried anew. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    if (opened !== undefined) return opened;
    opened = open();
    opened.catch(() => (opened = undefined));
    return opened;
  };
}
