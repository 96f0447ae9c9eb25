// Series of what is kept: the audit trail, recordings, retention.
import { named } from './series-definition.ts';

export const RECORDS_SERIES = named({
  ute_audit_checkpoints_sent_total: {
    type: 'counter',
    help: 'Audit checkpoints that a sink beside the file has taken.',
    labels: ['sink'],
  },
  ute_audit_checkpoint_failures_total: {
    type: 'counter',
    help: 'Messages with audit checkpoints that a sink did not take.',
    labels: ['sink'],
  },
  ute_audit_checkpoints_total: {
    type: 'counter',
    help: 'Signed checkpoints of audit chains that were kept.',
  },
  ute_replayed_calls_total: {
    type: 'counter',
    help: 'Calls of a gateway that replays: answered from the recording, refused, or called all the same.',
    labels: ['outcome'],
  },
  ute_calls_reconciled_total: {
    type: 'counter',
    help: 'Calls whose process died, by the status they were given.',
    labels: ['status'],
  },
  ute_retention_deleted_total: {
    type: 'counter',
    help: 'Rows deleted because they were older than the retention settings allow.',
    labels: ['table'],
  },
  ute_audit_partitions_dropped_total: {
    type: 'counter',
    help: 'Days of the audit trail dropped because they were older than the retention settings allow.',
  },
  ute_retention_overdue_seconds: {
    type: 'gauge',
    help: 'By how much the oldest row has outlived the retention settings, where it cannot keep up; else 0.',
    labels: ['table'],
  },
  ute_recorded_calls_total: { type: 'counter', help: 'Calls kept in a recording.' },
  ute_recordings_active: { type: 'gauge', help: 'Recordings that go on.' },
  ute_audit_records_total: { type: 'counter', help: 'Audit records that were kept.' },
  ute_audit_omitted_total: {
    type: 'counter',
    help: 'Calls without a valid credential that have no audit record of their own, because there were too many a second.',
  },
  ute_audit_dropped_total: { type: 'counter', help: 'Audit records that could not be kept.' },
  ute_audit_refused_calls_total: {
    type: 'counter',
    help: 'Calls refused because they could not be recorded.',
  },
  ute_audit_rejected_total: {
    type: 'counter',
    help: 'Audit records that the database refuses; see rejected.jsonl.',
  },
  ute_audit_pending_records: { type: 'gauge', help: 'Audit records that are not in the database yet.' },
  ute_audit_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest audit record that is not in the database yet.',
  },
  ute_analytics_seconds: {
    type: 'histogram',
    help: 'How long figures of calls took, by outcome: counted, partial (more records than are read), or failed.',
    labels: ['outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30],
  },
});
