// What a function that asks for it is told of its call: who is calling, and for whom.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { traceHeaders } from '../../lib/trace/trace-context.ts';
import type { Signature } from './signature.ts';

/** Only functions that ask for it by a parameter named `context` are told who is calling. */
export function contextMember(signature: Signature | undefined, call: ToolCall): string {
  if (signature?.takes_context !== true) return '';
  const { sessionId, agentId, userId, tenantId, mode } = call.context;
  const context = {
    call_id: call.id,
    session_id: sessionId ?? null,
    agent_id: agentId ?? null,
    user_id: userId ?? null,
    tenant_id: call.principal?.tenantId ?? tenantId ?? null,
    mode: mode ?? null,
    ...traceHeaders(call.context),
    config: call.config,
    sensitive_config: call.sensitiveConfig,
  };
  return `,"context":${JSON.stringify(context)}`;
}

/** By the credential as well as by the user that it names: neither is taken for another's. */
export function userOf({ principal, context }: ToolCall): string {
  return JSON.stringify([principal?.tenantId ?? '', principal?.id ?? '', context.userId ?? '']);
}
