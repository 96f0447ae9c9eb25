// The audit trail: append-only, a partition for each day, each record chained to the one before of its tenant.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `audit_records` stays as it is: older gateways that still run write to it, and what is in it is read until retention
 * has emptied it.
 */
export const auditTrail: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await createTrail(db);
    // Transient: what a statement records together with what it does, until it is chained.
    await sql`CREATE TABLE audit_inbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, record text NOT NULL)`.execute(
      db,
    );
    // Where each chain ends. Whoever adds to it holds its row.
    await sql`CREATE TABLE audit_chains (
      tenant_id text PRIMARY KEY,
      seq bigint NOT NULL DEFAULT 0,
      hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
      recorded_at timestamptz NOT NULL DEFAULT 'epoch'
    ) WITH (fillfactor = 50)`.execute(db);
    await createPartitions(db);
    await createCheckpoints(db);
  },
};

/** Eight bytes each first, so that nothing is lost to alignment. Null where a field says nothing, which takes no space. */
async function createTrail(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE audit_trail (
    seq bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    at timestamptz NOT NULL,
    duration_ms double precision,
    remaining_ms double precision,
    attempts integer,
    read_only boolean,
    idempotent boolean,
    intended boolean,
    partial_side_effects boolean,
    tenant_id text NOT NULL,
    kind text NOT NULL,
    event_id text NOT NULL,
    call_id text,
    call_kind text,
    door text,
    principal_id text,
    agent_id text,
    requested_tool text,
    tool text,
    tool_version text,
    executor text,
    outcome text,
    reason text,
    registry_version text,
    trace_id text,
    arguments_hash bytea,
    hash bytea NOT NULL,
    personal_hash bytea,
    personal_salt bytea,
    session_id text,
    user_id text,
    notes jsonb
  ) PARTITION BY RANGE (recorded_at)`.execute(db);
  // The history of calls, and records by the time of what they tell of.
  await sql`CREATE INDEX audit_trail_time ON audit_trail (tenant_id, at)`.execute(db);
  // Records of a call; and whether a record is there already.
  await sql`CREATE INDEX audit_trail_ref ON audit_trail ((coalesce(call_id, event_id)))`.execute(db);
}

/**
 * A function of whoever owns the tables, so that a role that may only add records can have a day's partition made. The
 * table is made first and attached then: that holds up nobody who writes. Which record has which number is unique within
 * a partition by its index, and over all of them by the row of audit_chains.
 */
async function createPartitions(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`SELECT quote_ident(current_schema()) AS schema`.execute(db);
  const path = sql.raw(`${rows[0]?.schema ?? 'public'}, pg_temp`);
  await sql`CREATE FUNCTION audit_partition(day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${path} AS $body$
    DECLARE
      name text := 'audit_trail_' || to_char(day, 'YYYYMMDD');
    BEGIN
      IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
      PERFORM pg_advisory_xact_lock(7274302);
      IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
      EXECUTE format('CREATE TABLE %I (LIKE audit_trail INCLUDING DEFAULTS INCLUDING INDEXES)', name);
      EXECUTE format('CREATE UNIQUE INDEX %I ON %I (tenant_id, seq)', name || '_seq', name);
      EXECUTE format('ALTER TABLE audit_trail ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
    END $body$`.execute(db);
  await sql`SELECT audit_partition((now() AT TIME ZONE 'UTC')::date + n) FROM generate_series(0, 7) AS n`.execute(
    db,
  );
}

/** Signed; and where each chain begins, since its first days have been dropped. */
async function createCheckpoints(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE audit_checkpoints (
    tenant_id text NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    at timestamptz NOT NULL,
    previous text NOT NULL,
    key_id text NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (tenant_id, seq)
  )`.execute(db);
  await sql`CREATE INDEX audit_checkpoints_age ON audit_checkpoints (at)`.execute(db);
  await sql`ALTER TABLE audit_chains
    ADD COLUMN checkpoint_seq bigint NOT NULL DEFAULT 0,
    ADD COLUMN checkpoint_id text NOT NULL DEFAULT '',
    ADD COLUMN checkpointed_at timestamptz NOT NULL DEFAULT 'epoch',
    ADD COLUMN dropped_seq bigint NOT NULL DEFAULT 0,
    ADD COLUMN dropped_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')`.execute(db);
}
