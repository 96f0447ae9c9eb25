// The series of asynchronous calls: how many wait and run, how long the first has waited, how they end, and their webhooks.
import type { CallStore, EndStatus } from '../ports/calls/call-store.ts';
import { every } from '../lib/timers/every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/telemetry/log.ts';
import type { Metrics } from '../ports/telemetry/metrics.ts';
import type { WebhookStore } from '../ports/calls/webhook-store.ts';
import { DEFERRED_SERIES } from '../ports/telemetry/series/deferred.ts';

export interface AsyncSeries {
  ended(status: EndStatus): void;
}

export function asyncSeries(metrics: Metrics): AsyncSeries {
  const ended = metrics.counter(DEFERRED_SERIES.ute_async_calls_ended_total);
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
  const calls = metrics.gauge(DEFERRED_SERIES.ute_async_calls);
  const oldest = metrics.gauge(DEFERRED_SERIES.ute_job_oldest_waiting_seconds).with();
  const messages = metrics.gauge(DEFERRED_SERIES.ute_webhooks);
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
