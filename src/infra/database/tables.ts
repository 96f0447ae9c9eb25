// The tables of the gateway's own database, as Kysely sees them. Each is made by the migration named beside it.
import type { ColumnType, Generated } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';

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
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'outcome_unknown';
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
  /** The replica that runs it, until when it may be believed to, and which claim this is: a late owner's writes are void. */
  owner: string | null;
  lease_expires_at: OptionalInstant;
  claim: Generated<number>;
  /** Which schedule made it, for which moment: together unique. */
  schedule_id: string | null;
  fire_time: OptionalInstant;
  created_at: Instant;
  started_at: OptionalInstant;
  finished_at: OptionalInstant;
  /** When an asynchronous call is no longer worth running. */
  deadline_at: OptionalInstant;
}

/** 0001-calls: what a call said while it ran, for those who follow it; `seq` counts from 1 within a call. */
export interface CallEventsTable {
  call_id: string;
  seq: number;
  at: Instant;
  kind: string;
  data: Json<JsonObject>;
}

export interface Tables {
  calls: CallsTable;
  call_events: CallEventsTable;
}
