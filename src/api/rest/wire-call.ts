// A stored call as REST shows it: where it stands, and the envelope it ended in, pasted as it was written.
import type { StoredCall } from '../../ports/calls/call-store.ts';

export function callJson(call: StoredCall, envelope: string | undefined): string {
  const head = JSON.stringify(callFields(call));
  return `${head.slice(0, -1)},"result":${envelope ?? 'null'}}`;
}

export function callFields(call: StoredCall) {
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
