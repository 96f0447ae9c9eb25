// Assembles what runs calls later: the doors' side, the worker, the webhooks, the schedules. Everything it needs is made already.
import { DEFERRED_SERIES } from '../../ports/telemetry/series/deferred.ts';
import { envelopeJson } from '../../api/rest/execute/write-envelope.ts';
import { AsyncCalls } from '../../calls/async-calls.ts';
import { asyncSeries, showQueue } from '../../calls/async-metrics.ts';
import { CallWorker } from '../../calls/call-worker.ts';
import type { ApprovalFeed } from '../../core/approval-feed.ts';
import { callMessage } from '../../webhooks/call-message.ts';
import { CallbackRules } from '../../webhooks/callback-rules.ts';
import { traceOfCall } from '../../webhooks/trace-of-call.ts';
import { WebhookSender } from '../../webhooks/webhook-sender.ts';
import type { DueWebhook } from '../../ports/calls/webhook-store.ts';
import type { Schedules } from '../../schedules/schedules.ts';
import type { Gateway } from '../gateway/create-gateway.ts';
import { createApprovalNotices, type ApprovalWord } from './create-approval-notices.ts';
import { createSchedules, type ScheduleService } from './create-schedules.ts';
import type { Infra } from '../adapters/create-ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface AsyncService {
  readonly calls: AsyncCalls;
  readonly approvals: ApprovalFeed;
  readonly schedules: Schedules;
  /** Begins to take calls, but in the role api: not before the tools are loaded. */
  start(): void;
  /** Takes no more, and sends followers away. What runs goes on. */
  drain(): void;
  /** After the core is idle. */
  close(): Promise<void>;
}

/** For what is still to be written after the last call has ended. */
const CLOSE_WITHIN_MS = 2_000;

export function createAsyncCalls(settings: Settings, infra: Infra, gateway: Gateway): AsyncService {
  const { ports, asyncParts } = infra;
  const { async: limits } = settings;
  const runsCalls = settings.role !== 'api';
  const random = Math.random;
  const rules = new CallbackRules(settings.webhooks);
  const sender = new WebhookSender({
    ...ports,
    outbox: asyncParts.webhooks,
    random,
    rules,
    bodyOf: ({ call }) => callMessage(call, calls.envelopeOf(call) ?? 'null', ports.clock.wall()),
    traceOf: ({ call }) => traceOfCall(call),
    about: ({ call }) => ({ callId: call.id }),
    counted: DEFERRED_SERIES.ute_webhook_deliveries_total,
  });
  const wakeSender = () => {
    if (runsCalls) sender.wake();
  };
  const calls: AsyncCalls = new AsyncCalls({
    ...ports,
    ...asyncParts,
    caller: gateway.executor,
    write: envelopeJson,
    rules,
    maxQueued: limits.max_queued_per_tenant,
    maxWaitMs: limits.max_wait_ms,
    reserve: (call) => (runsCalls ? worker.reserve(call) : undefined),
    wakeSender,
  });
  const worker: CallWorker = createWorker(settings, infra, gateway, wakeSender);
  const envelopeOf = async (tenantId: string, callId: string) => {
    const call = await asyncParts.store.get(tenantId, callId);
    return call && calls.envelopeOf(call);
  };
  const scheduled = createSchedules(settings, infra, gateway, { rules, envelopeOf });
  return serviceOf({
    calls,
    worker,
    sender,
    word: createApprovalNotices(settings, infra),
    scheduled,
    runsCalls,
    show: () => showQueue({ ...ports, ...asyncParts }),
  });
}

interface Parts {
  readonly calls: AsyncCalls;
  readonly worker: CallWorker;
  readonly sender: Pick<WebhookSender<DueWebhook>, 'start' | 'stop'>;
  readonly word: ApprovalWord;
  readonly scheduled: ScheduleService;
  readonly runsCalls: boolean;
  /** Shows how long the queue is: in every role. */
  readonly show: () => () => void;
}

function serviceOf({ calls, worker, sender, word, scheduled, runsCalls, show }: Parts): AsyncService {
  let hide: () => void = () => undefined;
  return {
    calls,
    approvals: word.feed,
    schedules: scheduled.schedules,
    start() {
      if (runsCalls) {
        worker.start();
        scheduled.start();
        sender.start();
        word.start();
      }
      scheduled.show();
      hide = show();
    },
    drain() {
      scheduled.drain();
      calls.drain();
      word.feed.drain();
      worker.drain();
    },
    async close() {
      hide();
      await Promise.all([scheduled.close(), worker.close(CLOSE_WITHIN_MS)]);
      await Promise.all([sender.stop(), word.stop()]);
    },
  };
}

function createWorker(settings: Settings, infra: Infra, gateway: Gateway, ended: () => void): CallWorker {
  return new CallWorker({
    ...infra.ports,
    ...infra.asyncParts,
    caller: gateway.executor,
    random: Math.random,
    series: asyncSeries(infra.ports.metrics),
    write: envelopeJson,
    ended,
    concurrency: settings.async.concurrency,
    leaseMs: settings.async.lease_ms,
  });
}
