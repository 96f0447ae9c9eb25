// An audit record as one line of JSON, snake_case, always with the same fields in the same order.
import type { AuditRecord } from '../../ports/audit-sink.ts';

/**
 * A line break inside a value is escaped by JSON: a record cannot pretend to be two. Written field by field: one
 * JSON.stringify of an object made for it takes three times as long, on the path of every call.
 */
export function auditLine(record: AuditRecord): string {
  const { notes } = record;
  return (
    `{"at":"${record.at}","call_id":"${record.callId}","door":${quoted(record.door)}` +
    `,"principal":${quoted(record.principal)},"tenant":${quoted(record.tenant)},"agent":${quoted(record.agent)}` +
    `,"user":${quoted(record.user)},"session":${quoted(record.session)}` +
    `,"requested_tool":${quoted(record.requestedTool)},"tool":${quoted(record.tool)}` +
    `,"tool_version":${quoted(record.toolVersion)},"executor":${quoted(record.executor)}` +
    `,"outcome":"${record.outcome}","reason":${quoted(record.reason)},"arguments_hash":"${record.argumentsHash}"` +
    `,"attempts":${record.attempts},"duration_ms":${record.durationMs}` +
    `,"partial_side_effects":${record.partialSideEffects},"registry_version":"${record.registryVersion}"` +
    `,"trace_id":${quoted(record.traceId)}${notes === undefined ? '' : `,"notes":${JSON.stringify(notes)}`}}\n`
  );
}

const PLAIN = /^[\w .:/-]*$/;

/** Most values need no escaping, and looking is cheaper than asking. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
