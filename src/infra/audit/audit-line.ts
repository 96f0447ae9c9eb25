// An audit record as one line of JSON, snake_case, always with the same fields in the same order.
import type { AuditRecord } from '../../ports/audit-sink.ts';

/** A line break inside a value is escaped by JSON: a record cannot pretend to be two. */
export function auditLine(record: AuditRecord): string {
  const line = JSON.stringify({
    at: record.at,
    call_id: record.callId,
    door: record.door,
    principal: record.principal,
    tenant: record.tenant,
    agent: record.agent,
    user: record.user,
    session: record.session,
    requested_tool: record.requestedTool,
    tool: record.tool,
    tool_version: record.toolVersion,
    executor: record.executor,
    outcome: record.outcome,
    reason: record.reason,
    arguments_hash: record.argumentsHash,
    attempts: record.attempts,
    duration_ms: record.durationMs,
    partial_side_effects: record.partialSideEffects,
    registry_version: record.registryVersion,
    trace_id: record.traceId,
    notes: record.notes,
  });
  return `${line}\n`;
}
