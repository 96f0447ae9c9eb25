// How a call ended: what its row says of an answer, and the answer that is given where nothing but the row is left.
import { ERROR_TYPES, isErrorType } from '../contract/call/error-types.ts';
import type { JsonObject } from '../contract/json.ts';
import type { ToolRefusal, ToolResponse } from '../contract/call/tool-response.ts';
import type { CallEnd, EndStatus, StoredCall } from '../ports/calls/call-store.ts';

/** Writes an envelope as doors send it. */
export type WriteEnvelope = (response: ToolResponse) => string;

export function endOf(response: ToolResponse, write: WriteEnvelope, status = statusOf(response)): CallEnd {
  const { meta } = response;
  return {
    status,
    errorType: response.ok ? null : response.error.type,
    reason: response.ok ? null : response.error.reason,
    partialSideEffects: response.ok ? false : response.error.partialSideEffects,
    durationMs: meta.durationMs,
    toolVersion: meta.toolVersion,
    traceId: meta.traceId,
    envelope: write(response),
  };
}

function statusOf(response: ToolResponse): EndStatus {
  if (response.ok) return 'succeeded';
  const { type } = response.error;
  if (type === 'CANCELLED') return 'cancelled';
  return type === 'OUTCOME_UNKNOWN' ? 'outcome_unknown' : 'failed';
}

const MESSAGES: Readonly<Record<string, string>> = {
  CANCELLED: 'The call was cancelled before it ran.',
  WAITED_TOO_LONG: 'The call waited for longer than calls may, and was not run.',
  APPROVAL_REJECTED: 'The call was rejected by an approver, and was not run.',
  APPROVAL_EXPIRED: 'Nobody decided about the call in time, and it was not run.',
  OWNER_LOST: 'The replica that ran the call was lost each time.',
};
const UNKNOWN =
  'The replica that ran the call was lost: whether the tool acted is not known, and it was not run again.';
const REFUSED = 'The call was refused when it was made, and was not run. The answer to it said why.';

function decisionOf({ approval }: StoredCall): JsonObject {
  if (approval === undefined) return {};
  const { id, comment } = approval;
  return { approval_id: id, ...(comment !== undefined && { comment }) };
}

/** Of a call that ended without an answer of its own. */
export function endedWithout(call: StoredCall): ToolRefusal {
  const type = isErrorType(call.errorType) ? call.errorType : 'INTERNAL';
  const reason = call.reason ?? type;
  return {
    ok: false,
    error: {
      type,
      message: type === 'OUTCOME_UNKNOWN' ? UNKNOWN : (MESSAGES[reason] ?? REFUSED),
      retryable: ERROR_TYPES[type].retryable,
      partialSideEffects: call.partialSideEffects,
      origin: ERROR_TYPES[type].origin,
      reason,
      retryAfterMs: null,
      details: reason === 'APPROVAL_REJECTED' || reason === 'APPROVAL_EXPIRED' ? decisionOf(call) : {},
    },
    meta: {
      callId: call.id,
      tool: call.tool,
      toolVersion: call.toolVersion,
      executor: call.executor,
      durationMs: call.durationMs ?? 0,
      attempts: 0,
      cached: false,
      replayed: false,
      fallback: false,
      degraded: [],
      registryVersion: call.registryVersion,
      traceId: call.traceId,
    },
    rateLimits: [],
  };
}
