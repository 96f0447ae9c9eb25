// Rows of calls that records tell of: a call has one from its intent to its end, while somebody may have to tell how it ended.
import { sql, type Transaction } from 'kysely';
import { OWNER_LOST } from '../../calls/owner-lost.ts';
import type { Tables } from '../../postgres/tables.ts';
import { lineText, type OwnLines } from './own-lines.ts';
import { LINE_RECORD } from './trail-columns.ts';

/** Of one statement, which has to end within the time of one. */
const AT_ONCE = 500;

/** Makes the rows of calls that have begun, and takes away those of calls that have ended. */
export async function storeCalls(trx: Transaction<Tables>, lines: OwnLines, gateway: string): Promise<void> {
  const telling = tellingOf(lines);
  for (let from = 0; from < telling.length; from += AT_ONCE)
    await callsStatement(telling.slice(from, from + AT_ONCE), gateway).execute(trx);
}

/** Intents and the ends of calls that had one, without the intents of calls that end among these lines. */
function tellingOf(lines: OwnLines): readonly string[] {
  const { bytes, starts, chainedEnds } = lines;
  // Names are sorted, and quotes inside a value are escaped: one look finds both. Mostly no line has them.
  if (!bytes.includes(INTENT) && !bytes.includes(INTENDED)) return [];
  const begun: string[] = [];
  const ends: string[] = [];
  for (const [index, start] of starts.entries()) {
    const chained = bytes.toString('utf8', start, chainedEnds[index]);
    if (chained.includes(INTENT)) begun.push(lineText(lines, index));
    else if (chained.includes(INTENDED)) ends.push(lineText(lines, index));
  }
  const ended = new Set(begun.length === 0 ? [] : ends.map(callOf));
  return [...begun.filter((text) => !ended.has(callOf(text))), ...ends];
}

const INTENT = ',"kind":"intent"';
const INTENDED = ',"intended":true,"kind":';
const CALL = ',"call_id":"';

function callOf(text: string): string {
  const at = text.indexOf(CALL) + CALL.length;
  return text.slice(at, text.indexOf('"', at));
}

/**
 * The end of a call is in the audit trail. What a human has found out about it is not overruled. Without a name, so that no plan of
 * it is kept: one made while hardly a call ran took seconds once thousands did.
 */
function callsStatement(lines: readonly string[], gateway: string) {
  const json = `[${lines.join(',')}]`;
  return sql`WITH incoming AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${json}::json) AS record (${LINE_RECORD})
      WHERE call_kind = 'sync' AND tenant_id <> ''
    ), ended AS (
      DELETE FROM calls USING incoming
      WHERE calls.id = incoming.call_id AND calls.tenant_id = incoming.tenant_id AND incoming.kind = 'outcome'
        AND calls.kind = 'sync' AND (calls.finished_at IS NULL OR calls.reason = ${OWNER_LOST})
    )
    ${beginStatement(sql`at`, gateway)}
    ON CONFLICT (id) DO NOTHING`;
}

/** Of the intents in `incoming`; how long each may take counts from `since`. */
export function beginStatement(since: ReturnType<typeof sql>, gateway: string) {
  return sql`INSERT INTO calls (id, tenant_id, principal_id, agent_id, user_id, session_id, door, tool, tool_version, executor,
      arguments_hash, kind, status, read_only, idempotent, partial_side_effects, attempts, registry_version, trace_id,
      notes, created_at, started_at, deadline_at, owner)
    SELECT call_id, tenant_id, coalesce(principal_id, ''), coalesce(agent_id, ''), coalesce(user_id, ''),
      coalesce(session_id, ''), coalesce(door, ''), coalesce(tool, requested_tool, ''), coalesce(tool_version, ''),
      coalesce(executor, ''), coalesce(arguments_hash, ''), call_kind, 'running', coalesce(read_only, false),
      coalesce(idempotent, false), false, 0, coalesce(registry_version, ''), coalesce(trace_id, ''), notes, at, at,
      ${since} + coalesce(remaining_ms, 0) * interval '1 millisecond', ${gateway}
    FROM incoming WHERE kind = 'intent' AND call_kind = 'sync' AND tenant_id <> ''`;
}
