// A page of the calls that one credential had accepted at the MCP door, newest first.
import { sql } from 'kysely';
import type { HistoryPage, HistoryQuery, TaskFilter } from '../../ports/calls/call-history.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import { column } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { LISTED_CALL, storedCallOf, type StoredRow } from './call-rows.ts';

const NARROWED_BY = ['agentId', 'userId', 'sessionId'] as const satisfies readonly (keyof TaskFilter)[];

/** The conditions on kind and door are those of the index `calls_tasks`. */
export async function tasksPage(
  db: Database['db'],
  tenantId: string,
  { filter, limit, after }: HistoryQuery<TaskFilter>,
): Promise<HistoryPage<StoredCall>> {
  const wanted = [
    sql`tenant_id = ${tenantId} AND principal_id = ${filter.principalId} AND kind = 'async' AND door = 'mcp'`,
    ...NARROWED_BY.flatMap((name) =>
      filter[name] === undefined ? [] : [sql`${column(name)} = ${filter[name]}`],
    ),
  ];
  if (after !== undefined) {
    const moment = sql`'epoch'::timestamptz + ${after.at}::double precision * interval '1 microsecond'`;
    wanted.push(sql`(created_at, id) < (${moment}, ${after.id})`);
  }
  const { rows: found } = await sql<StoredRow & { readonly position: number }>`
    SELECT ${LISTED_CALL}, (extract(epoch FROM c.created_at) * 1000000)::bigint AS position
    FROM calls c WHERE ${sql.join(wanted, sql` AND `)}
    ORDER BY c.created_at DESC, c.id DESC LIMIT ${limit + 1}`.execute(db);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: rows.map(({ position: _position, ...row }) => storedCallOf(row)),
    ...(last && { next: { at: last.position, id: last.id } }),
  };
}
