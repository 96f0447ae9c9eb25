// The series of asynchronous calls: how many wait and run, how long the first has waited, how they end, and their webhooks.
import type { CallStore, EndStatus } from '../ports/calls/call-store.ts';
import { every } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Metrics } from '../ports/telemetry/metrics.ts';
import type { WebhookStore } from '../ports/calls/webhook-store.ts';

export interface AsyncSeries {
  ended(status: EndStatus): void;
}

export function asyncSeries(metrics: Metrics): AsyncSeries {
  const ended = metrics.counter({
    name: 'ute_async_calls_ended_total',
    help: 'Asynchronous calls by how they ended, counted by the replica that saw it.',
    labels: ['status'],
  });
  return { ended: (status) => ended.with(status).add() };
}

export interface GaugeDeps {
  readonly store: CallStore;
  readonly webhooks: WebhookStore;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_MS = 5_000;

/** Asks the rows every few seconds; every replica shows the same. The returned function ends it. */
export function showQueue(deps: GaugeDeps): () => void {
  const { store, webhooks, metrics, clock, log } = deps;
  const calls = metrics.gauge({
    name: 'ute_async_calls',
    help: 'Asynchronous calls that wait or run, over all replicas.',
    labels: ['status'],
  });
  const oldest = metrics
    .gauge({
      name: 'ute_job_oldest_waiting_seconds',
      help: 'How long the call has waited that is first to be run.',
    })
    .with();
  const messages = metrics.gauge({
    name: 'ute_webhooks',
    help: 'Webhooks of ended calls: still to be delivered, and given up.',
    labels: ['status'],
  });
  const show = async () => {
    const [state, counts] = await Promise.all([store.state(), webhooks.counts()]);
    calls.with('waiting_approval').set(state.waitingApproval);
    calls.with('queued').set(state.queued);
    calls.with('running').set(state.running);
    oldest.set(state.oldestWaitingSeconds);
    messages.with('pending').set(counts.pending);
    messages.with('dead').set(counts.dead);
  };
  const failed = (error: unknown) => log.debug({ err: error }, 'the queue of calls could not be counted');
  const looks = every(clock, { ms: LOOK_MS }, show, failed);
  return () => void looks.stop();
}
