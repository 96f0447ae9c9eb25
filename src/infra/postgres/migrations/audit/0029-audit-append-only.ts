// The role that adds audit records cannot make use of what the owner of the tables may; and sinks of checkpoints beside the file.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const auditAppendOnly: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const { rows } = await sql<{ schema: string }>`SELECT current_schema() AS schema`.execute(db);
    await replacePartitions(db, rows[0]?.schema ?? 'public');
    await createSinks(db);
  },
};

/**
 * It runs as the owner for a role that may do less. So every name in it is of pg_catalog or of the schema: nothing that
 * the other role makes can take the place of a function or an operator. What default privileges of the database give on
 * new tables is taken away again: records are added through audit_trail alone.
 */
async function replacePartitions(db: Kysely<unknown>, schema: string): Promise<void> {
  const name = `'${schema.replaceAll("'", "''")}'`;
  await sql`CREATE OR REPLACE FUNCTION audit_partition(day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      own text := ${sql.raw(name)};
      part text := 'audit_trail_' || to_char(day, 'YYYYMMDD');
      grantee text;
    BEGIN
      IF to_regclass(format('%I.%I', own, part)) IS NOT NULL THEN RETURN; END IF;
      PERFORM pg_advisory_xact_lock(7274302);
      IF to_regclass(format('%I.%I', own, part)) IS NOT NULL THEN RETURN; END IF;
      EXECUTE format('CREATE TABLE %I.%I (LIKE %I.audit_trail INCLUDING DEFAULTS INCLUDING INDEXES)', own, part, own);
      EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', own, part);
      FOR grantee IN
        SELECT DISTINCT format('%I', r.rolname) FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.oid = to_regclass(format('%I.%I', own, part)) AND a.grantee <> c.relowner
      LOOP
        EXECUTE format('REVOKE ALL ON %I.%I FROM %s', own, part, grantee);
      END LOOP;
      EXECUTE format('CREATE UNIQUE INDEX %I ON %I.%I (tenant_id, seq)', part || '_seq', own, part);
      EXECUTE format('ALTER TABLE %I.audit_trail ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)',
        own, own, part, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
    END $body$`.execute(db);
}

/** How far each sink is. `position` counts checkpoints in the order in which they were made; 0 of those made before it. */
async function createSinks(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE audit_checkpoints ADD COLUMN position bigint NOT NULL DEFAULT 0`.execute(db);
  await sql`CREATE INDEX audit_checkpoints_position ON audit_checkpoints (position)`.execute(db);
  await sql`CREATE TABLE audit_sinks (
    name text PRIMARY KEY,
    position bigint NOT NULL DEFAULT 0,
    leased_until timestamptz NOT NULL DEFAULT 'epoch'
  )`.execute(db);
}
