// The idempotency key that a call is told twice, beside its body and in it: the same one, or nobody knows which is meant.
import type { ToolContext } from '../contract/call/tool-context.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';

const IN_CONTEXT = '/context/idempotency_key';

/** `beside`: what headers or metadata say; `place` is what they are called. Throws ToolFailure VALIDATION. */
export function agreedContext(inside: ToolContext, beside: ToolContext, place: string): ToolContext {
  const [one, other] = [inside.idempotencyKey, beside.idempotencyKey];
  if (one !== undefined && other !== undefined && one !== other) throw disagreement(place);
  return { ...inside, ...beside };
}

function disagreement(place: string): ToolFailure {
  const message = `differs from the ${place}: say one of them, or the same in both`;
  return toolFailure('IDEMPOTENCY_KEYS_DIFFER', `context.idempotency_key ${message}.`, {
    details: { field: 'idempotency_key', violations: [{ pointer: IN_CONTEXT, message }] },
  });
}
