// Which days of the audit trail can be made: whoever may only add records makes those to come, and none that could hide another.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The function that makes a day runs as the owner for the writer. A day of any year, as it was, let the writer make one whose
 * name no reader of the trail understands, and thousands of them. Its work stays what it was; a function in front says no first.
 */
export const auditDays: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const { rows } = await sql<{ schema: string }>`SELECT current_schema() AS schema`.execute(db);
    const schema = rows[0]?.schema ?? 'public';
    await sql`ALTER FUNCTION audit_partition(date) RENAME TO audit_partition_of`.execute(db);
    await sql`CREATE FUNCTION audit_partition(day date) RETURNS void
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      DECLARE
        today date := (now() AT TIME ZONE 'UTC')::date;
      BEGIN
        IF (day >= '2000-01-01' AND day <= '9999-12-31') IS NOT TRUE THEN
          RAISE EXCEPTION 'a day of the audit trail must be of the years 2000 to 9999' USING ERRCODE = '22008';
        END IF;
        IF (day < today - 2 OR day > today + 400) AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
          RAISE EXCEPTION 'only the owner of the audit trail makes days that are long past or far ahead' USING ERRCODE = '42501';
        END IF;
        PERFORM ${sql.id(schema)}.audit_partition_of(day);
      END $body$`.execute(db);
    // What the writer was given on the one before went with its name.
    await sql`DO $body$
      DECLARE
        grantee text;
      BEGIN
        REVOKE ALL ON FUNCTION audit_partition(date), audit_partition_of(date) FROM PUBLIC;
        FOR grantee IN
          SELECT DISTINCT format('%I', r.rolname) FROM pg_proc p, aclexplode(p.proacl) a JOIN pg_roles r ON r.oid = a.grantee
          WHERE p.oid = 'audit_partition_of(date)'::regprocedure AND a.grantee <> p.proowner
        LOOP
          EXECUTE format('REVOKE ALL ON FUNCTION audit_partition_of(date) FROM %s', grantee);
          EXECUTE format('GRANT EXECUTE ON FUNCTION audit_partition(date) TO %s', grantee);
        END LOOP;
      END $body$`.execute(db);
  },
};
