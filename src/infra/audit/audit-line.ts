// An audit record as one line of JSON, always with the same fields in the same order: the names of the table's columns.
import type { JsonValue } from '../../contract/json.ts';
import type { AuditRecord } from '../../ports/audit-sink.ts';
import { storable } from '../postgres/storable.ts';

/**
 * A line break inside a value is escaped by JSON: a record cannot pretend to be two. Written field by field: one
 * JSON.stringify of an object made for it takes three times as long, on the path of every call.
 */
export function auditLine(record: AuditRecord): string {
  const { notes } = record;
  return (
    `{"event_id":"${record.eventId}","kind":"${record.kind}","at":"${record.at}","call_id":${quoted(record.callId)}` +
    `,"call_kind":"${record.callKind}","door":${quoted(record.door)}` +
    `,"principal_id":${quoted(record.principal)},"tenant_id":${quoted(record.tenant)}` +
    `,"agent_id":${quoted(record.agent)},"user_id":${quoted(record.user)},"session_id":${quoted(record.session)}` +
    `,"requested_tool":${quoted(record.requestedTool)},"tool":${quoted(record.tool)}` +
    `,"tool_version":${quoted(record.toolVersion)},"executor":${quoted(record.executor)}` +
    `,"outcome":${quoted(record.outcome)},"reason":${quoted(record.reason)}` +
    `,"arguments_hash":"${record.argumentsHash}","read_only":${record.readOnly},"idempotent":${record.idempotent}` +
    `,"attempts":${record.attempts},"duration_ms":${record.durationMs},"remaining_ms":${record.remainingMs}` +
    `,"partial_side_effects":${record.partialSideEffects},"registry_version":${quoted(record.registryVersion)}` +
    `,"trace_id":${quoted(record.traceId)}${notes === undefined ? '' : `,"notes":${notesJson(notes)}`}}\n`
  );
}

const PLAIN = /^[\w .:/-]*$/;

/** Most values need no escaping, and looking is cheaper than asking. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(storable(text));
}

const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i;

function notesJson(notes: NonNullable<AuditRecord['notes']>): string {
  const text = JSON.stringify(notes);
  return SUSPICIOUS.test(text) ? JSON.stringify(storableValue(notes)) : text;
}

function storableValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storable(name), storableValue(member)]),
  );
}
