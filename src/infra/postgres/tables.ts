// The tables of the gateway's own database that Kysely writes statements for. Each is made by the migration named beside it.
import type { ColumnType, Generated } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { AuditKind } from '../../ports/audit-sink.ts';

/** Read as a Date, written as a Date or an expression of the database's own time. */
type Instant = ColumnType<Date, Date, Date>;
type OptionalInstant = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** Written as JSON text: pg would take a list for an array of PostgreSQL. */
type Json<T> = ColumnType<T, string, string>;
type OptionalJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** 0001-calls */
export interface CallsTable {
  id: string;
  tenant_id: string;
  /** Credential that made the call. */
  principal_id: string;
  agent_id: string;
  user_id: string;
  session_id: string;
  door: string;
  tool: string;
  tool_version: string;
  executor: string;
  arguments_hash: string;
  kind: 'sync' | 'async' | 'scheduled';
  /** `waiting_approval`: 0027-waiting-calls. */
  status:
    | 'waiting_approval'
    | 'queued'
    | 'running'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'outcome_unknown';
  /** The error type of a call that did not succeed, and its reason. */
  error_type: string | null;
  reason: string | null;
  read_only: boolean;
  idempotent: boolean;
  partial_side_effects: boolean;
  attempts: number;
  duration_ms: number | null;
  registry_version: string;
  trace_id: string;
  notes: OptionalJson<JsonObject>;
  /** What an asynchronous call needs to run later; null for a synchronous one. */
  request: OptionalJson<JsonObject>;
  /** The envelope of an asynchronous call that has ended. */
  response: OptionalJson<JsonObject>;
  cancel_requested: Generated<boolean>;
  /** The gateway that runs it, until when it may be believed to, and which claim this is: a late owner's writes are void. */
  owner: string | null;
  lease_expires_at: OptionalInstant;
  claim: Generated<number>;
  /** Which schedule made it, for which moment: together unique. */
  schedule_id: string | null;
  fire_time: OptionalInstant;
  created_at: Instant;
  started_at: OptionalInstant;
  finished_at: OptionalInstant;
  /** When an asynchronous call is no longer worth running; of one that waits for its approval, when that expires. */
  deadline_at: OptionalInstant;
  /** 0004-async. Of a queued call: lower runs first; and when it may. */
  queue_rank: number | null;
  not_before: OptionalInstant;
}

/** 0004-async: what is to be told to somebody when a call has ended. */
export interface WebhooksTable {
  id: string;
  call_id: string;
  tenant_id: string;
  url: string;
  status: 'pending' | 'delivered' | 'dead';
  attempts: Generated<number>;
  /** Also the end of the lease of whoever is sending it. */
  next_attempt_at: Instant;
  last_error: Generated<string>;
  created_at: Instant;
  finished_at: OptionalInstant;
}

/** 0001-calls: what a call said while it ran, for those who follow it; `seq` counts from 1 within a call. */
export interface CallEventsTable {
  call_id: string;
  seq: number;
  at: Instant;
  kind: string;
  data: Json<JsonObject>;
}

/** 0002-audit: only ever added to. */
export interface AuditRecordsTable {
  event_id: string;
  kind: AuditKind;
  at: Instant;
  call_id: string;
  door: string;
  principal_id: string;
  tenant_id: string;
  agent_id: string;
  user_id: string;
  session_id: string;
  requested_tool: string;
  tool: string;
  tool_version: string;
  executor: string;
  /** `ok`, the error type, or what was decided. */
  outcome: string;
  reason: string;
  arguments_hash: string;
  attempts: number;
  duration_ms: number;
  partial_side_effects: boolean;
  registry_version: string;
  trace_id: string;
  notes: OptionalJson<JsonObject>;
  recorded_at: ColumnType<Date, never, never>;
}

/** 0007-tool-specs */
export interface ToolHeadsTable {
  name: string;
  content_hash: string;
  enabled: boolean;
  revision: number;
  updated_by: string;
  updated_at: ColumnType<Date, never, never>;
  note: string;
}

/** 0007-tool-specs: only ever added to. */
export interface ToolChangesTable {
  name: string;
  revision: number;
  action: 'put' | 'rollback' | 'disable';
  content_hash: string;
  changed_by: string;
  note: string;
  changed_at: ColumnType<Date, never, never>;
}

/** 0006-schedules */
export interface ScheduledTasksTable {
  id: string;
  task_type: string;
  description: string;
  schedule_type: 'once' | 'recurring';
  /** {"at": …} or {"cron": …} */
  schedule_data: Json<JsonObject>;
  /** What its calls need to run: tool, arguments, context, and what was granted. */
  execution_data: Json<JsonObject>;
  enabled: boolean;
  created_at: Instant;
  /** The moment of its last run. */
  last_run: OptionalInstant;
  /** Null: it is not going to run. */
  next_run: OptionalInstant;
  tenant_id: string;
  principal_id: string;
  agent_id: string;
  user_id: string;
  session_id: string;
  tool: string;
  arguments_hash: string;
  phrase: string;
  time_zone: string;
  misfire: 'skip' | 'once' | 'catch_up';
  max_catch_up: number;
  overlap: 'allow' | 'skip' | 'queue';
  end_at: OptionalInstant;
  max_runs: number | null;
  runs: Generated<number>;
  last_status: string | null;
  /** Counts changes by people. */
  version: Generated<number>;
  updated_at: Instant;
  finished_at: OptionalInstant;
  /** Who is told of the end of each run. */
  callback_url: string | null;
}

export interface Tables {
  scheduled_tasks: ScheduledTasksTable;
  calls: CallsTable;
  call_events: CallEventsTable;
  audit_records: AuditRecordsTable;
  webhooks: WebhooksTable;
  tool_heads: ToolHeadsTable;
  tool_changes: ToolChangesTable;
}
