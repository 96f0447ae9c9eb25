// callLogFields: what every log line about a call says of it, so that one search finds them all.
import type { ToolCall } from './tool-call.ts';

/**
 * Principal and tenant are those of an accepted credential: what a refused caller says of itself is left out. The trace id
 * is the caller's, or that of the gateway's own span. What is not known is undefined.
 */
export function callLogFields({ id, context, principal, progress }: ToolCall) {
  const caller = progress.caller?.principal ?? principal;
  return {
    callId: id,
    principalId: caller?.id,
    tenantId: caller?.tenantId,
    sessionId: context.sessionId,
    traceId: progress.traceId || undefined,
  };
}
