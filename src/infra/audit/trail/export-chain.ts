// The chain of a tenant as lines that can be checked without the database: each record with its place and its hash.
import { sql } from 'kysely';
import type { Database } from '../../postgres/database.ts';
import { FIRST_PREVIOUS } from '../../../lib/audit-chain/chained-record.ts';
import { exportLine } from '../../../lib/audit-chain/export-line.ts';
import { chainedJson, personalJson } from '../audit-line.ts';
import { recordOf, TRAIL_ROW, type TrailRow } from '../chain/trail-columns.ts';
import { trailDays, windowsOf } from './trail-days.ts';

/** After the number `after`, in the order of the chain; fewer than `limit`: there are no more. */
export async function exportChain(
  db: Database['db'],
  tenantId: string,
  after: number,
  limit: number,
): Promise<readonly string[]> {
  const rows: TrailRow[] = [];
  // The one before, too: the first is chained to it.
  for (const { from, to } of windowsOf(await trailDays({ db }))) {
    const { rows: found } = await sql<TrailRow>`SELECT ${TRAIL_ROW} FROM audit_trail
      WHERE tenant_id = ${tenantId} AND seq >= ${after} AND recorded_at >= ${from} AND recorded_at < ${to}
      ORDER BY seq LIMIT ${limit + 1 - rows.length}`.execute(db);
    rows.push(...found);
    if (rows.length > limit) break;
  }
  const before = rows[0]?.seq === after ? rows.shift() : undefined;
  let previous = before?.hash ?? (await droppedHash(db, tenantId));
  return rows.slice(0, limit).map((row) => {
    const line = lineOf(row, previous);
    previous = row.hash;
    return line;
  });
}

/** Of the last record that retention has dropped; zeros where none was. */
async function droppedHash(db: Database['db'], tenantId: string): Promise<string> {
  const { rows } = await sql<{ hash: string }>`SELECT encode(dropped_hash, 'hex') AS hash FROM audit_chains
    WHERE tenant_id = ${tenantId}`.execute(db);
  return rows[0]?.hash ?? FIRST_PREVIOUS;
}

function lineOf(row: TrailRow, previous: string): string {
  const record = recordOf(row);
  const { personal_salt: salt, personal_hash: personal } = row;
  return exportLine({
    record: chainedJson(record, personal ?? ''),
    place: { previous, recordedAt: row.recorded_at.toISOString(), seq: row.seq, tenant: row.tenant_id },
    hash: row.hash,
    ...(salt !== null && { personal: { salt, data: personalJson(record) } }),
  });
}
