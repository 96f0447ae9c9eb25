// Calls as REST shows them: a line of the history, and a call that runs later with the envelope it ended in.
import type { CallSummary as Summary } from '../../../ports/calls/call-history.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import type { WireOf } from '../route/shapes.ts';
import type { CallSummary, CallView } from './schema.ts';

export function wireSummary(call: Summary): WireOf<typeof CallSummary> {
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

/** The envelope is pasted as it was written. */
export function callJson(call: StoredCall, envelope: string | undefined): string {
  const head = JSON.stringify(callFields(call));
  return `${head.slice(0, -1)},"result":${envelope ?? 'null'}}`;
}

function callFields(call: StoredCall): Omit<WireOf<typeof CallView>, 'result'> {
  return {
    id: call.id,
    kind: call.kind,
    status: call.status,
    tool: call.tool,
    tool_version: call.toolVersion,
    executor: call.executor,
    principal_id: call.principalId,
    error_type: call.errorType,
    reason: call.reason,
    partial_side_effects: call.partialSideEffects,
    cancel_requested: call.cancelRequested,
    attempts: call.runs,
    duration_ms: call.durationMs,
    registry_version: call.registryVersion,
    trace_id: call.traceId,
    created_at: call.createdAt.toISOString(),
    started_at: call.startedAt?.toISOString() ?? null,
    finished_at: call.finishedAt?.toISOString() ?? null,
  };
}
