// Calls and audit records of the history as REST writes them.
import type { AuditEntry, CallSummary } from '../../ports/calls/call-history.ts';

export function wireCall(call: CallSummary) {
  return {
    id: call.id,
    kind: call.kind,
    status: call.status,
    tool: call.tool,
    tool_version: call.toolVersion,
    executor: call.executor,
    error_type: call.errorType,
    reason: call.reason,
    partial_side_effects: call.partialSideEffects,
    read_only: call.readOnly,
    idempotent: call.idempotent,
    attempts: call.attempts,
    duration_ms: call.durationMs,
    principal_id: call.principalId,
    agent_id: call.agentId,
    user_id: call.userId,
    session_id: call.sessionId,
    door: call.door,
    arguments_hash: call.argumentsHash,
    registry_version: call.registryVersion,
    trace_id: call.traceId,
    notes: call.notes,
    created_at: call.createdAt.toISOString(),
    finished_at: call.finishedAt?.toISOString() ?? null,
  };
}

export function wireAudit(entry: AuditEntry) {
  return {
    event_id: entry.eventId,
    kind: entry.kind,
    at: entry.at.toISOString(),
    call_id: entry.callId,
    door: entry.door,
    principal_id: entry.principalId,
    agent_id: entry.agentId,
    user_id: entry.userId,
    session_id: entry.sessionId,
    requested_tool: entry.requestedTool,
    tool: entry.tool,
    tool_version: entry.toolVersion,
    executor: entry.executor,
    outcome: entry.outcome,
    reason: entry.reason,
    arguments_hash: entry.argumentsHash,
    attempts: entry.attempts,
    duration_ms: entry.durationMs,
    partial_side_effects: entry.partialSideEffects,
    registry_version: entry.registryVersion,
    trace_id: entry.traceId,
    notes: entry.notes,
  };
}
