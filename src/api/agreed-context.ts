// What a call is told twice, beside its body and in it, its idempotency key and its tenant: the same, or nobody knows which is meant.
import { toolFailure } from '../contract/call/failure.ts';
import type { Reason } from '../contract/call/reasons/reasons.ts';
import type { ToolContext } from '../contract/call/tool-context.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';

/** `beside`: what headers or metadata say; `place` is which of them. Throws ToolFailure VALIDATION. */
export function agreedContext(
  inside: ToolContext,
  beside: ToolContext,
  place: 'header' | 'metadata',
): ToolContext {
  if (differ(inside.idempotencyKey, beside.idempotencyKey)) {
    const name = place === 'header' ? 'header Idempotency-Key' : 'metadata idempotency-key';
    throw disagreement('IDEMPOTENCY_KEYS_DIFFER', 'idempotency_key', name);
  }
  if (differ(inside.tenantId, beside.tenantId)) {
    const name = place === 'header' ? 'header X-UTE-Tenant' : 'metadata x-ute-tenant';
    throw disagreement('TENANTS_DIFFER', 'tenant_id', name);
  }
  return { ...inside, ...beside };
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function disagreement(reason: Reason, field: string, place: string): ToolFailure {
  const message = `differs from the ${place}: say one of them, or the same in both`;
  return toolFailure(reason, `context.${field} ${message}.`, {
    details: { field, violations: [{ pointer: `/context/${field}`, message }] },
  });
}
