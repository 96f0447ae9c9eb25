// A synchronous call that has no row of its own, by the record of its end in the audit trail.
import { sql, type Kysely } from 'kysely';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import type { Tables } from '../postgres/tables.ts';
import { IS_CALL, OF_RECORD } from './calls-page.ts';

const DAY_MS = 86_400_000;
/** A record may be of a clock that is ahead of the database's, and may have waited in a journal. */
const BEFORE_MS = DAY_MS;
const AFTER_MS = 30 * DAY_MS;
const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

const SHOWN = sql.join(Object.entries(OF_RECORD).map(([name, shown]) => sql`${shown} AS ${sql.ref(name)}`));

/** The id tells when the call came in: only the days about that are looked at. */
export async function recordedCall(
  db: Kysely<Tables>,
  tenantId: string,
  id: string,
): Promise<StoredCall | undefined> {
  const [, high, low] = UUID_V7.exec(id) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const at = Number.parseInt(`${high}${low}`, 16);
  if (at > LAST_MS) return undefined;
  const { rows } = await sql<Recorded>`
    SELECT ${SHOWN} FROM audit_trail
    WHERE coalesce(call_id, event_id) = ${id} AND tenant_id = ${tenantId} AND ${IS_CALL}
      AND recorded_at >= ${new Date(at - BEFORE_MS)} AND recorded_at < ${new Date(at + AFTER_MS)}
    LIMIT 1`.execute(db);
  return rows[0] && storedCallOf(tenantId, rows[0]);
}

/** Of the year 9999: no date of JavaScript that PostgreSQL does not know. */
const LAST_MS = 253_000_000_000_000;

type Recorded = Omit<
  StoredCall,
  'tenantId' | 'runs' | 'claim' | 'cancelRequested' | 'scheduleId' | 'startedAt'
> & {
  readonly attempts: number;
};

function storedCallOf(tenantId: string, row: Recorded): StoredCall {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    tenantId,
    principalId: row.principalId,
    agentId: row.agentId,
    userId: row.userId,
    sessionId: row.sessionId,
    door: row.door,
    tool: row.tool,
    toolVersion: row.toolVersion,
    executor: row.executor,
    readOnly: row.readOnly,
    idempotent: row.idempotent,
    partialSideEffects: row.partialSideEffects,
    errorType: row.errorType,
    reason: row.reason,
    runs: row.attempts,
    claim: 0,
    durationMs: row.durationMs,
    registryVersion: row.registryVersion,
    traceId: row.traceId,
    cancelRequested: false,
    scheduleId: null,
    createdAt: row.createdAt,
    startedAt: row.createdAt,
    finishedAt: row.finishedAt,
  };
}
