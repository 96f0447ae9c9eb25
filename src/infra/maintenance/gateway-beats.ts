// Signs of life of a gateway, in the database: whether its calls may still be told of, or are lost with it.
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** A gateway is believed to live for so long after its last sign, and to be about to tell how a call ended. */
export const GATEWAY_LEASE_MS = 30_000;

/**
 * `behindMs`: everything that its journal had accepted so long ago is in the database; undefined while nothing is known.
 * `steady_since` is when its signs began to come without a gap: after an outage of the database, those of all gateways
 * are old, and nobody can tell yet who died in it.
 */
export async function tellAlive(
  { db }: Pick<Database, 'db'>,
  id: string,
  behindMs: number | undefined,
): Promise<void> {
  await sql`
    INSERT INTO gateways (id, alive_at, steady_since, shipped_to) VALUES (${id}, now(), now(), ${ago(behindMs)})
    ON CONFLICT (id) DO UPDATE SET alive_at = now(), shipped_to = excluded.shipped_to,
      steady_since = CASE WHEN gateways.alive_at < ${ago(GATEWAY_LEASE_MS / 2)} THEN now() ELSE gateways.steady_since END`.execute(
    db,
  );
}

/** Those that are long gone. */
export async function forgetGateways({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`DELETE FROM gateways WHERE alive_at < now() - interval '1 day'`.execute(db);
}

export function ago(ms: number | undefined) {
  return sql`now() - ${ms ?? null}::double precision * interval '1 millisecond'`;
}
