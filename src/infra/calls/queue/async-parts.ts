// Makes what asynchronous calls need from outside: rows in the database, a queue and hints on Redis where there is one.
import type { CallHints } from '../../../ports/calls/call-hints.ts';
import type { CallQueue } from '../../../ports/calls/call-queue.ts';
import type { CallStore } from '../../../ports/calls/call-store.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { WaitingCalls } from '../../../ports/calls/waiting-calls.ts';
import type { WebhookStore } from '../../../ports/calls/webhook-store.ts';
import type { ApprovalHook } from '../../approvals/approval-events.ts';
import { SqlWaitingCalls } from '../../approvals/waiting-calls.ts';
import { databaseCallStore } from '../call-store.ts';
import { dyingStore } from '../dying-store.ts';
import type { GatewayDatabase } from '../../postgres/gateway-database.ts';
import { databaseWebhookStore } from '../../webhooks/webhook-store.ts';
import { MemoryCallHints } from '../../hints/memory-call-hints.ts';
import { RedisCallHints } from '../../hints/redis-call-hints.ts';
import type { RedisClients } from '../../redis/redis-clients.ts';
import { BullMqCallQueue } from './bullmq-call-queue.ts';
import { OwnCallQueue } from './own-call-queue.ts';

export interface AsyncParts {
  readonly store: CallStore;
  readonly waiting: WaitingCalls;
  readonly webhooks: WebhookStore;
  readonly queue: CallQueue;
  readonly hints: CallHints;
}

export interface AsyncPartsNeeds {
  readonly database: GatewayDatabase;
  readonly redis: RedisClients | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a call may wait for its turn. */
  readonly maxWaitMs: number;
  /** Of all tenants' calls, how many may wait for a human. */
  readonly maxPending: number;
  /** Who is told of it. */
  readonly hooks: readonly ApprovalHook[];
}

export function createAsyncParts(needs: AsyncPartsNeeds): AsyncParts {
  const { database, redis, clock, log, maxWaitMs, maxPending, hooks } = needs;
  const store = dyingStore(databaseCallStore(database, maxWaitMs), process.env);
  const waiting = new SqlWaitingCalls(database, { maxPending, hooks });
  const webhooks = databaseWebhookStore(database);
  const queue = redis === undefined ? new OwnCallQueue() : new BullMqCallQueue({ redis, clock, log });
  const hints = redis === undefined ? new MemoryCallHints() : new RedisCallHints(redis, log);
  return { store, waiting, webhooks, queue, hints };
}
