// Series of what runs later: asynchronous calls, their webhooks, schedules.
import { named } from './series-definition.ts';

export const DEFERRED_SERIES = named({
  ute_async_calls_ended_total: {
    type: 'counter',
    help: 'Asynchronous calls by how they ended, counted by the replica that saw it.',
    labels: ['status'],
  },
  ute_async_calls: {
    type: 'gauge',
    help: 'Asynchronous calls that wait or run, over all replicas.',
    labels: ['status'],
  },
  ute_job_oldest_waiting_seconds: {
    type: 'gauge',
    help: 'How long the call has waited that is first to be run.',
  },
  ute_webhooks: {
    type: 'gauge',
    help: 'Webhooks of ended calls: still to be delivered, and given up.',
    labels: ['status'],
  },
  ute_schedule_runs_total: {
    type: 'counter',
    help: 'Moments that schedules were due, by what became of them; missed counts each gap once. By the replica that saw to it.',
    labels: ['outcome'],
  },
  ute_schedule_changes_total: {
    type: 'counter',
    help: 'Schedules that were made, changed and deleted, by doors and by tools.',
    labels: ['change'],
  },
  ute_schedule_lag_seconds: {
    type: 'histogram',
    help: 'From the moment that a schedule is due until its call is there.',
    buckets: [0.25, 0.5, 1, 2, 5, 15, 60, 300, 3_600],
  },
  ute_schedules: {
    type: 'gauge',
    help: 'Schedules over all replicas: enabled; failing, whose last run did not succeed; overdue, due for over a minute.',
    labels: ['state'],
  },
  ute_approval_notices_total: {
    type: 'counter',
    help: 'Attempts to tell a hook of gateway.yaml about an approval, by outcome.',
    labels: ['outcome'],
  },
  ute_webhook_deliveries_total: {
    type: 'counter',
    help: 'Attempts to deliver a webhook, by outcome.',
    labels: ['outcome'],
  },
});
