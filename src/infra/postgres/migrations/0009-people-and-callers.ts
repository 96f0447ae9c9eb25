// Who asked for an approval, as a person; and for whom an idempotency key was used, besides its credential.
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const peopleAndCallers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE approvals ADD COLUMN requested_by_user text NOT NULL DEFAULT ''`.execute(db);
    await sql`ALTER TABLE idempotency_keys ADD COLUMN caller_hash text NOT NULL DEFAULT ''`.execute(db);
    // Keys that are in use stay in use: of whom they are is told by their calls. The same hash as callerHash makes.
    await sql`UPDATE idempotency_keys AS key SET caller_hash = encode(sha256(convert_to(
        octet_length(c.agent_id) || ':' || c.agent_id || octet_length(c.user_id) || ':' || c.user_id
          || octet_length(c.session_id) || ':' || c.session_id, 'UTF8')), 'hex')
      FROM calls AS c
      WHERE c.id = key.call_id AND c.tenant_id = key.tenant_id AND c.agent_id || c.user_id || c.session_id <> ''`.execute(
      db,
    );
    await sql`ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pk`.execute(db);
    await sql`ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_pk
      PRIMARY KEY (tenant_id, principal_id, tool, key, caller_hash)`.execute(db);
  },
};
