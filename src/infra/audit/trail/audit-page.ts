// A page of the audit trail, newest first: by the numbers in the chain, and then what older versions recorded without one.
import { sql, type RawBuilder } from 'kysely';
import type {
  AuditEntry,
  AuditFilter,
  HistoryPage,
  HistoryQuery,
} from '../../../ports/calls/call-history.ts';
import { column, columns } from '../../postgres/columns.ts';
import type { Database } from '../../postgres/database.ts';
import { trailDays, windowsOf } from './trail-days.ts';

type Db = Database['db'];
type Found = AuditEntry & { readonly position: number };

// oxfmt-ignore
const ENTRY = [
  'eventId', 'kind', 'at', 'callId', 'door', 'principalId', 'agentId', 'userId', 'sessionId', 'requestedTool', 'tool',
  'toolVersion', 'executor', 'outcome', 'reason', 'argumentsHash', 'attempts', 'durationMs', 'partialSideEffects',
  'registryVersion', 'traceId', 'notes',
] as const satisfies readonly (keyof AuditEntry)[];

const AS_THEY_ARE = new Set<string>(['eventId', 'kind', 'at', 'notes']);
const OTHERS: Readonly<Record<string, RawBuilder<unknown>>> = {
  requestedTool: sql`coalesce(requested_tool, tool, '')`,
  argumentsHash: sql`coalesce(encode(arguments_hash, 'hex'), '')`,
  attempts: sql`coalesce(attempts, 0)`,
  durationMs: sql`coalesce(duration_ms, 0)`,
  partialSideEffects: sql`coalesce(partial_side_effects, false)`,
};
/** Null where a field says nothing. */
const CHAINED_ENTRY = sql.join(
  ENTRY.map((name) => {
    const shown = AS_THEY_ARE.has(name) ? column(name) : (OTHERS[name] ?? sql`coalesce(${column(name)}, '')`);
    return sql`${shown} AS ${sql.ref(name)}`;
  }),
);

// oxfmt-ignore
const FILTERS = ['kind', 'callId', 'tool', 'outcome', 'principalId', 'agentId', 'userId', 'sessionId'] as const satisfies
  readonly (keyof AuditFilter)[];
/** Of a position in the chain; anything else is the id of a record without a number. */
const CHAINED = /^s(\d{1,16})$/;
/** By how much the clock of a gateway may be ahead of the database's. */
const SLACK_MS = 86_400_000;

export async function auditPage(
  db: Db,
  tenantId: string,
  query: HistoryQuery<AuditFilter>,
): Promise<HistoryPage<AuditEntry>> {
  const { limit, after } = query;
  const seq = after === undefined ? undefined : CHAINED.exec(after.id)?.[1];
  const isUnchained = after !== undefined && seq === undefined;
  const found = isUnchained
    ? []
    : await chained(db, tenantId, query, seq === undefined ? undefined : Number(seq));
  if (found.length <= limit) {
    const rest = await unchained(db, tenantId, query, limit + 1 - found.length, isUnchained);
    found.push(...rest);
  }
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: rows.map(({ position: _position, ...row }) => row),
    ...(last && { next: { at: last.position, id: last.seq === null ? last.eventId : `s${last.seq}` } }),
  };
}

async function chained(
  db: Db,
  tenantId: string,
  { filter, limit, after }: HistoryQuery<AuditFilter>,
  before: number | undefined,
): Promise<Found[]> {
  const wanted = wantedOf(tenantId, filter);
  if (filter.callId !== undefined) wanted.push(sql`coalesce(call_id, event_id) = ${filter.callId}`);
  if (before !== undefined) wanted.push(sql`seq < ${before}`);
  const oldest = filter.from === undefined ? undefined : filter.from.getTime() - SLACK_MS;
  const newest = after === undefined ? undefined : after.at / 1_000;
  const found: Found[] = [];
  for (const { from, to } of windowsOf(await trailDays({ db }), oldest, newest).toReversed()) {
    const { rows } = await sql<Found>`
      SELECT ${CHAINED_ENTRY}, seq, encode(hash, 'hex') AS hash,
        (extract(epoch FROM recorded_at) * 1000000)::bigint AS position
      FROM audit_trail WHERE ${sql.join(wanted, sql` AND `)} AND recorded_at >= ${from} AND recorded_at < ${to}
      ORDER BY seq DESC LIMIT ${limit + 1 - found.length}`.execute(db);
    found.push(...rows);
    if (found.length > limit) break;
  }
  return found;
}

/** Records of versions before the chain: nothing is added to them but by such versions. */
async function unchained(
  db: Db,
  tenantId: string,
  { filter, after }: HistoryQuery<AuditFilter>,
  limit: number,
  goesOn: boolean,
): Promise<readonly Found[]> {
  const wanted = wantedOf(tenantId, filter);
  if (goesOn && after !== undefined)
    wanted.push(sql`(at, event_id) <
      ('epoch'::timestamptz + ${after.at}::double precision * interval '1 microsecond', ${after.id})`);
  // Microseconds: exact, where a Date would cut off a part of it.
  const { rows } = await sql<Found>`
    SELECT ${columns<AuditEntry>(ENTRY)}, NULL AS seq, NULL AS hash,
      (extract(epoch FROM at) * 1000000)::bigint AS position
    FROM audit_records WHERE ${sql.join(wanted, sql` AND `)} ORDER BY at DESC, event_id DESC LIMIT ${limit}`.execute(
    db,
  );
  return rows;
}

function wantedOf(tenantId: string, filter: AuditFilter): RawBuilder<unknown>[] {
  const wanted: RawBuilder<unknown>[] = [sql`tenant_id = ${tenantId}`];
  for (const name of FILTERS) {
    if (filter[name] !== undefined) wanted.push(sql`${column(name)} = ${filter[name]}`);
  }
  if (filter.from !== undefined) wanted.push(sql`at >= ${filter.from}`);
  if (filter.to !== undefined) wanted.push(sql`at < ${filter.to}`);
  return wanted;
}
