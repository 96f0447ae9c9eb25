// The Message-ID of a call: the same for every attempt of it, and for whoever asks for the same by the same idempotency key.
import { hash } from 'node:crypto';
import type { ToolCall } from '../../../contract/call/tool-call.ts';

type Identity = Pick<ToolCall, 'id' | 'context' | 'principal' | 'function'>;

/** `domain`: of the sender. Of what it is made of, nothing can be read. */
export function messageIdOf({ id, context, principal, function: fn }: Identity, domain: string): string {
  const { idempotencyKey: key, agentId, userId, sessionId } = context;
  const whose = [principal?.tenantId ?? '', principal?.id ?? '', fn?.name ?? '', agentId, userId, sessionId];
  const text = JSON.stringify(key === undefined ? ['call', id, domain] : ['key', ...whose, key, domain]);
  return `<${hash('sha256', text).slice(0, 40)}@${domain}>`;
}
