// Erases what is kept of a user of a tenant: what lies beside the chain goes with its salt, and a record in the chain says whose numbers.
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { ERASURE, MOST_ERASED, rangesOf } from '../../../lib/audit-chain/erased-records.ts';
import { uuidv7 } from '../../../lib/ids.ts';
import { NO_CALL } from '../../../ports/audit-sink.ts';
import type { Erasure, Erased } from '../../../ports/calls/call-history.ts';
import type { Database } from '../../postgres/database.ts';
import type { Tables } from '../../postgres/tables.ts';
import { auditLine } from '../audit-line.ts';
import { trailDays, windowsOf, type Window } from '../trail/trail-days.ts';
import { eraseOutcomes } from './erase-outcomes.ts';
import { ENDED_ROWS, SET_ROWS, type EndedRows, type UsersRows } from './ended-rows.ts';

type Db = Database['owner'];

/** Acts of an operator: whoever erases himself would erase what he did. */
const KEPT_KIND = 'management';
/** A statement takes no long time, however many records a day has. */
const READ_AT_ONCE = 20_000;

/**
 * As the owner of the tables, in small transactions, so that it may stop anywhere and be asked for again. What is still in use (calls
 * that run, approvals that wait, sessions, schedules, keys and handed-on votes that live, versions assigned to the user) is left, and counted.
 */
export async function eraseUser({ owner: db }: Pick<Database, 'owner'>, erasure: Erasure): Promise<Erased> {
  const rowsOf = { calls: 0, approvals: 0, sessions: 0, schedules: 0, keys: 0, delegations: 0 };
  const erased = { records: 0, ...rowsOf, accounts: 0, inUse: 0 };
  for (const day of await trailDays({ db }))
    for (const window of windowsOf([day])) erased.records += await eraseDay(db, window, erasure);
  erased.records += await untilNone(() => eraseOldRecords(db, erasure));
  for (const rows of ENDED_ROWS) {
    erased[rows.of] += await untilNone(() => deleteEnded(db, rows, erasure));
    erased.inUse += await countOf(db, rows, erasure);
  }
  for (const rows of SET_ROWS) erased.inUse += await countOf(db, rows, erasure);
  return erased;
}

async function untilNone(some: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let count = await some(); count > 0; count = await some()) all += count;
  return all;
}

/** No index is by the user, which each record would pay for: the day is read some numbers at a time. */
async function eraseDay(db: Db, { from, to }: Window, erasure: Erasure): Promise<number> {
  const { tenantId, userId } = erasure;
  const ofDay = sql`tenant_id = ${tenantId} AND recorded_at >= ${from} AND recorded_at < ${to}`;
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    SELECT min(seq) AS first, max(seq) AS last FROM audit_trail WHERE ${ofDay}`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  let count = 0;
  for (let seq = first ?? 1; seq <= (last ?? 0); seq += READ_AT_ONCE) {
    const here = sql`${ofDay} AND seq >= ${seq} AND seq < ${seq + READ_AT_ONCE} AND user_id = ${userId} AND kind <> ${KEPT_KIND}`;
    count += await untilNone(() => db.transaction().execute((trx) => eraseSome(trx, here, erasure)));
  }
  return count;
}

async function eraseSome(
  trx: Transaction<Tables>,
  here: RawBuilder<unknown>,
  erasure: Erasure,
): Promise<number> {
  const { rows } = await sql<{ seq: number; call_id: string | null }>`
    UPDATE audit_trail SET user_id = NULL, session_id = NULL, notes = NULL, personal_salt = NULL
    WHERE ${here} AND seq = ANY(ARRAY(SELECT seq FROM audit_trail WHERE ${here} LIMIT ${MOST_ERASED}))
    RETURNING seq, call_id`.execute(trx);
  if (rows.length === 0) return 0;
  // Not every record is of a call.
  const callIds = rows.map(({ call_id: id }) => id).filter((id) => id !== null);
  await eraseOutcomes(trx, erasure.tenantId, callIds);
  const seqs = rows.map(({ seq }) => seq);
  await record(trx, erasure, seqs);
  return rows.length;
}

/** Together with the erasure, and chained a moment later. It does not say whose data it was. */
async function record(
  trx: Transaction<Tables>,
  { tenantId, by }: Erasure,
  seqs: readonly number[],
): Promise<void> {
  const erased = rangesOf(seqs.toSorted((one, other) => one - other));
  const now = Date.now();
  const line = auditLine({
    ...NO_CALL,
    eventId: uuidv7(now),
    kind: ERASURE,
    at: new Date(now).toISOString(),
    door: 'rest',
    principal: by,
    tenant: tenantId,
    outcome: 'ok',
    notes: { erased },
  });
  await sql`INSERT INTO audit_inbox (record) VALUES (${line.trimEnd()})`.execute(trx);
}

/** Of versions before the chain. */
async function eraseOldRecords(db: Db, { tenantId, userId }: Erasure): Promise<number> {
  const { numAffectedRows = 0n } =
    await sql`UPDATE audit_records SET user_id = '', session_id = '', notes = NULL
    WHERE event_id = ANY(ARRAY(SELECT event_id FROM audit_records
      WHERE tenant_id = ${tenantId} AND user_id = ${userId} AND kind <> ${KEPT_KIND} LIMIT ${MOST_ERASED}))`.execute(
      db,
    );
  return Number(numAffectedRows);
}

async function deleteEnded(
  db: Db,
  { of, table, tenant, isUsers, isEnded }: EndedRows,
  { tenantId, userId }: Erasure,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string }>`DELETE FROM ${sql.table(table)} WHERE id = ANY(ARRAY(
      SELECT id FROM ${sql.table(table)} WHERE ${sql.ref(tenant)} = ${tenantId} AND ${isUsers(userId)} AND ${isEnded} LIMIT ${MOST_ERASED}))
      RETURNING id`.execute(trx);
    const ids = rows.map(({ id }) => id);
    if (of === 'calls') await eraseOutcomes(trx, tenantId, ids);
    return ids.length;
  });
}

async function countOf(
  db: Db,
  { table, tenant, isUsers }: UsersRows,
  { tenantId, userId }: Erasure,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(table)}
    WHERE ${sql.ref(tenant)} = ${tenantId} AND ${isUsers(userId)}`.execute(db);
  return rows[0]?.count ?? 0;
}
