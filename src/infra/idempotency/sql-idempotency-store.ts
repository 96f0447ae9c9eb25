// IdempotencyStore in SQL: one row per key, every step one statement, time told by the database.
import { sql, type Kysely } from 'kysely';
import { parseOwn } from '../../lib/large-json/parse-json.ts';
import { stringifyInSlices } from '../../lib/large-json/write-json.ts';
import type {
  HeldKey,
  IdempotencyStore,
  KeyClaim,
  KeyScope,
  KeyState,
  StoredOutcome,
} from '../../ports/idempotency-store.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Tables } from '../postgres/tables.ts';

/** A row that another transaction has just made is not seen by the statement that met it: the next one sees it. */
const ATTEMPTS = 4;

interface Row {
  readonly mine: boolean;
  readonly call_id: string;
  readonly fingerprint: string;
  readonly status: 'in_progress' | 'ended' | 'unknown';
  readonly alive: boolean;
  readonly attempt: number;
  readonly outcome: string | null;
}

export class SqlIdempotencyStore implements IdempotencyStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  begin(scope: KeyScope, claim: KeyClaim): Promise<KeyState> {
    return withDatabase(async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const row = await this.#claim(scope, claim);
        const state = row && (await this.#stateOf(row, scope, claim));
        if (state !== undefined) return state;
      }
      throw new Error('the row of an idempotency key keeps vanishing');
    });
  }

  renew(held: readonly HeldKey[], leaseMs: number): Promise<void> {
    return withDatabase(async () => {
      const ids = held.map(({ callId }) => callId);
      await sql`UPDATE idempotency_keys SET lease_expires_at = ${fromNow(leaseMs)}
        WHERE status = 'in_progress' AND (tenant_id, call_id) IN (
          SELECT * FROM unnest(${held.map(({ tenantId }) => tenantId)}::text[], ${ids}::text[])
        )`.execute(this.#db);
    });
  }

  end(held: HeldKey, outcome: StoredOutcome): Promise<boolean> {
    return withDatabase(async () => {
      const written = await textOf(outcome);
      const { numAffectedRows = 0n } = await sql`/* end_idempotency_key */ UPDATE idempotency_keys
        SET status = 'ended', outcome = ${written}
        WHERE ${rowOf(held)} AND call_id = ${held.callId} AND status = 'in_progress'`.execute(this.#db);
      return numAffectedRows > 0n;
    });
  }

  release(held: HeldKey): Promise<boolean> {
    return withDatabase(async () => {
      const { numAffectedRows = 0n } = await sql`/* release_idempotency_key */ DELETE FROM idempotency_keys
        WHERE ${rowOf(held)} AND call_id = ${held.callId} AND status <> 'ended'`.execute(this.#db);
      return numAffectedRows > 0n;
    });
  }

  /**
   * Takes the key where it is free, has run out, or was its dead owner's and may be run again; else says who has it. What
   * the same call has taken before, and was not told, is still its own.
   */
  async #claim(scope: KeyScope, claim: KeyClaim): Promise<Row | undefined> {
    const { tenantId, principalId, tool, key, callerHash } = scope;
    const { callId, fingerprint, mayRunAgain, leaseMs, keepMs } = claim;
    const { rows } = await sql<Row>`/* claim_idempotency_key */
      WITH claimed AS (
        INSERT INTO idempotency_keys AS held
          (tenant_id, principal_id, tool, key, caller_hash, call_id, fingerprint, status, attempt, lease_expires_at, expires_at)
        VALUES (${tenantId}, ${principalId}, ${tool}, ${key}, ${callerHash}, ${callId}, ${fingerprint}, 'in_progress', 1,
          ${fromNow(leaseMs)}, ${fromNow(keepMs)})
        ON CONFLICT (tenant_id, principal_id, tool, key, caller_hash) DO UPDATE SET
          call_id = excluded.call_id, fingerprint = excluded.fingerprint, status = 'in_progress', outcome = NULL,
          lease_expires_at = excluded.lease_expires_at, expires_at = excluded.expires_at,
          attempt = CASE WHEN held.status <> 'in_progress' THEN 1 WHEN held.call_id = excluded.call_id THEN held.attempt
            ELSE held.attempt + 1 END
        WHERE (held.status = 'ended' AND held.expires_at <= now())
          OR (held.status = 'in_progress' AND held.call_id = excluded.call_id)
          OR (held.status = 'in_progress' AND held.lease_expires_at <= now()
            AND ${mayRunAgain} AND held.fingerprint = excluded.fingerprint)
        RETURNING true AS mine, call_id, fingerprint, status, true AS alive, attempt, outcome
      )
      SELECT * FROM claimed
      UNION ALL
      SELECT false, call_id, fingerprint, status, lease_expires_at > now(), attempt, outcome
      FROM idempotency_keys
      WHERE ${rowOf(scope)} AND NOT EXISTS (SELECT FROM claimed)`.execute(this.#db);
    return rows[0];
  }

  /** Undefined: the owner has turned up again meanwhile. */
  async #stateOf(row: Row, scope: KeyScope, claim: KeyClaim): Promise<KeyState | undefined> {
    const { call_id: callId, attempt, outcome } = row;
    if (row.mine) return { state: 'mine', attempt };
    if (row.fingerprint !== claim.fingerprint) return { state: 'other_payload' };
    if (row.status === 'ended' && outcome !== null)
      return { state: 'ended', callId, outcome: (await parseOwn(outcome)) as unknown as StoredOutcome };
    if (row.status === 'in_progress' && row.alive) return { state: 'in_flight', callId };
    if (row.status === 'in_progress') {
      // From now on the dead owner cannot end it either, should it come back: somebody was told that nobody knows.
      const { numAffectedRows = 0n } = await sql`UPDATE idempotency_keys SET status = 'unknown'
        WHERE ${rowOf(scope)} AND call_id = ${callId} AND status = 'in_progress'
          AND lease_expires_at <= now()`.execute(this.#db);
      if (numAffectedRows === 0n) return undefined;
    }
    return { state: 'unknown', callId };
  }
}

/** What may be large of an outcome is its data alone. */
async function textOf(outcome: StoredOutcome): Promise<string> {
  if (!outcome.ok) return JSON.stringify(outcome);
  const { dataJson, ...others } = outcome;
  return `{"dataJson":${await stringifyInSlices(dataJson)},${JSON.stringify(others).slice(1)}`;
}

function rowOf({ tenantId, principalId, tool, key, callerHash }: KeyScope) {
  return sql`tenant_id = ${tenantId} AND principal_id = ${principalId} AND tool = ${tool} AND key = ${key}
    AND caller_hash = ${callerHash}`;
}

function fromNow(ms: number) {
  return sql`now() + ${ms} * interval '1 millisecond'`;
}
