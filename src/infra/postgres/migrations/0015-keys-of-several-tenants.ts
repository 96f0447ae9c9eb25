// API keys that serve several tenants; and keys that were revoked long ago may go, without a step back of what replicas look at.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keysOfSeveralTenants: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // A star alone: any. Such a key has a star for its tenant, too: a gateway of a version that does not know this
    // column then takes it for the key of one tenant that nobody is, and not for one of the platform.
    await sql`ALTER TABLE api_keys ADD COLUMN tenants text[]`.execute(db);
    await sql`ALTER TABLE api_keys ADD CONSTRAINT api_keys_tenants
      CHECK ((tenants IS NOT NULL) = (tenant IS NOT DISTINCT FROM '*') AND cardinality(tenants) > 0)`.execute(
      db,
    );
    // Revisions of rows that are gone: with those that are there, their sum never falls.
    await sql`CREATE TABLE api_keys_gone (revisions bigint NOT NULL)`.execute(db);
    await sql`CREATE FUNCTION ute_keep_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO api_keys_gone SELECT sum(revision) FROM gone HAVING count(*) > 0;
        RETURN NULL;
      END $$`.execute(db);
    await sql`CREATE TRIGGER api_keys_keep_revisions AFTER DELETE ON api_keys REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION ute_keep_revisions()`.execute(db);
  },
};
