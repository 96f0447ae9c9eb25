// The alerts: deploy/prometheus is written from here. Queries name series of
// src/ports/telemetry/series; one that is not there, or has no such label, fails `npm run generate`.

import { alert, grown } from './alert.js';
import { BURN_ALERTS, OF } from './slo.js';

/** By runbook: docs/runbooks/<name>.md has a heading for each alert. */
export const ALERTS = {
  'error-budget': [
    ...BURN_ALERTS,
    alert(
      'UteGatewayGone',
      'page',
      'absent(ute_build_info)',
      '5m',
      'no gateway answers on its metrics port',
      'Prometheus gets no metrics of any gateway: none runs, or the metrics port cannot be reached.',
    ),
    alert(
      'UteCallsShed',
      'page',
      `sum ${OF} (rate(ute_shed_calls_total[5m])) > 0`,
      '10m',
      '{{ $labels.job }} refuses calls because it has too much to do',
      'For 10 minutes {{ $value | humanize }} calls a second have been refused as OVERLOADED.',
    ),
    alert(
      'UteEventLoopLate',
      'ticket',
      'nodejs_eventloop_lag_p99_seconds > 0.2 and on (instance, job) ute_build_info',
      '10m',
      '{{ $labels.instance }} runs what is due late',
      'The event loop is {{ $value | humanizeDuration }} late (99th percentile): every call waits for it.',
    ),
  ],
  'tools-in-force': [
    alert(
      'UteReloadFailed',
      'ticket',
      'ute_config_last_reload_successful == 0',
      '15m',
      '{{ $labels.instance }} refused the last load of its tools',
      'What was declared before stays in force. GET /v1/admin/reload and the log name file, line and problem.',
    ),
    alert(
      'UteReplicasDisagree',
      'ticket',
      `max ${OF} (ute_registry_disagreement) == 1`,
      '5m',
      'replicas of {{ $labels.job }} have different tools in force',
      'The same call is answered in different ways by different replicas.',
    ),
    alert(
      'UteToolSourceStale',
      'ticket',
      'ute_loader_source_stale == 1',
      '15m',
      'the source of tools {{ $labels.source }} cannot be used',
      'The {{ $labels.loader }} loader of {{ $labels.instance }} goes on with what it last read.',
    ),
  ],
  'calls-that-run-later': [
    alert(
      'UteJobsWaitTooLong',
      'page',
      `max ${OF} (ute_job_oldest_waiting_seconds) > 300`,
      '5m',
      'asynchronous calls of {{ $labels.job }} wait for minutes',
      'The call that is first to be run has waited {{ $value | humanizeDuration }}.',
    ),
    alert(
      'UteScheduleMissed',
      'ticket',
      `sum ${OF} ${grown('ute_schedule_runs_total{outcome="missed"}', 15)}`,
      '0m',
      'schedules of {{ $labels.job }} were missed',
      'No replica was there when schedules were due.',
    ),
    alert(
      'UteScheduleOverdue',
      'page',
      `max ${OF} (ute_schedules{state="overdue"}) > 0`,
      '5m',
      'schedules of {{ $labels.job }} are due and do not run',
      '{{ $value }} schedules have been due for more than a minute, for five minutes on end.',
    ),
    alert(
      'UteWebhooksGivenUp',
      'ticket',
      `max ${OF} (delta(ute_webhooks{status="dead"}[1h])) > 0`,
      '0m',
      'webhooks of {{ $labels.job }} were given up',
      'Callers were not told of the end of their calls, after all attempts.',
    ),
  ],
  audit: [
    alert(
      'UteAuditLag',
      'page',
      'ute_audit_lag_seconds > 60',
      '5m',
      'audit records of {{ $labels.instance }} do not get into the database',
      'The oldest has waited on the local disk for {{ $value | humanizeDuration }}. At limits.max_audit_backlog_bytes calls are refused.',
    ),
    alert(
      'UteAuditRecordsLost',
      'page',
      `${grown('ute_audit_dropped_total', 10)} or ${grown('ute_audit_rejected_total', 10)}`,
      '0m',
      'audit records of {{ $labels.instance }} were not kept',
      'There is a gap in the trail, or records in rejected.jsonl under data_dir.',
    ),
    alert(
      'UteAuditRefusesCalls',
      'page',
      'ute_degraded{component="audit"} == 1',
      '1m',
      '{{ $labels.instance }} takes no audit records, and refuses calls',
      'Its disk fails, or limits.max_audit_backlog_bytes is reached.',
    ),
    alert(
      'UteRetentionBehind',
      'ticket',
      `max ${OF} (ute_retention_overdue_seconds) > 86400`,
      '1h',
      '{{ $labels.job }} keeps records for longer than its settings allow',
      'The oldest row has outlived them by {{ $value | humanizeDuration }}.',
    ),
  ],
  approvals: [
    alert(
      'UteApprovalsExpiring',
      'ticket',
      `max ${OF} (ute_approvals_expiring) > 0`,
      '2m',
      'approvals of {{ $labels.job }} are about to expire undecided',
      '{{ $value }} approvals expire within 15 minutes.',
    ),
  ],
  degraded: [
    alert(
      'UteLimitsDegraded',
      'page',
      'ute_degraded{component="admission"} == 1',
      '5m',
      'limits of {{ $labels.instance }} hold for this replica alone',
      'Redis is unreachable: with N replicas callers may get N times as much, and tools whose limits fail closed are refused.',
    ),
    alert(
      'UteDatabaseAway',
      'page',
      'ute_degraded{component="database"} == 1',
      '2m',
      '{{ $labels.instance }} cannot reach its database',
      'Calls that change something are refused until it is back.',
    ),
    alert(
      'UteIssuerKeysUnread',
      'ticket',
      'ute_issuer_keys_unread == 1',
      '15m',
      'the keys of the issuer {{ $labels.issuer }} cannot be read',
      'Those that were known stay in force; tokens signed with a new one are refused.',
    ),
    alert(
      'UteAccessUnread',
      'page',
      'ute_api_keys_unread == 1 or ute_agents_unread == 1 or ute_sessions_unread == 1',
      '5m',
      '{{ $labels.instance }} does not know of the latest changes of keys, agents or sessions',
      'What was known stays in force: a key that is revoked now is still let in.',
    ),
    alert(
      'UteDegraded',
      'ticket',
      'ute_degraded{component!~"admission|audit|database|tokens|tools|api_keys|agents"} == 1 unless on (instance, job) ute_degraded{component="database"} == 1',
      '10m',
      '{{ $labels.instance }} does without a part of it: {{ $labels.component }}',
      'GET /readyz says what is missing and what follows for calls.',
    ),
  ],
  upstreams: [
    alert(
      'UteCircuitOpen',
      'ticket',
      'ute_circuit_state == 2',
      '10m',
      'calls to {{ $labels.upstream }} are not made',
      'Its circuit breaker has been open for 10 minutes: it keeps failing, or an operator has isolated it.',
    ),
    alert(
      'UteWorkersRestart',
      'ticket',
      `sum by (namespace, job, executor) (increase(ute_executor_worker_restarts_total{reason!="recycled"}[15m])) > 10`,
      '15m',
      'workers of the {{ $labels.executor }} executor keep ending',
      '{{ $value | humanize }} ended in 15 minutes; the calls that they ran failed.',
    ),
  ],
  machine: [
    alert(
      'UteDiskLow',
      'ticket',
      'ute_data_dir_free_bytes / ute_data_dir_size_bytes < 0.10',
      '10m',
      'less than 10 % of the disk of {{ $labels.instance }} is free',
      '{{ $value | humanizePercentage }} of the disk of data_dir is left.',
    ),
    alert(
      'UteDiskAlmostFull',
      'page',
      'ute_data_dir_free_bytes / ute_data_dir_size_bytes < 0.03',
      '2m',
      'the disk of {{ $labels.instance }} is almost full',
      'When it is full, no audit record can be kept, and calls are refused.',
    ),
    alert(
      'UteCertificateExpiresSoon',
      'ticket',
      'ute_certificate_expiry_timestamp_seconds - time() < 14 * 86400',
      '1h',
      'the {{ $labels.certificate }} certificate of {{ $labels.instance }} expires in less than 14 days',
      'It is left for {{ $value | humanizeDuration }}.',
    ),
    alert(
      'UteCertificateExpires',
      'page',
      'ute_certificate_expiry_timestamp_seconds - time() < 2 * 86400',
      '5m',
      'the {{ $labels.certificate }} certificate of {{ $labels.instance }} expires in less than 2 days',
      'When it has expired, no client connects any more.',
    ),
  ],
};

/** Each with the runbook that tells what to do. */
export const ALL_ALERTS = Object.entries(ALERTS).flatMap(([runbook, alerts]) =>
  alerts.map((each) => ({ ...each, runbook: `docs/runbooks/${runbook}.md#${each.alert.toLowerCase()}` })),
);
