// What a human's approval and an idempotency key stand for: the arguments, and the terms on which the call is to run.
import type { JsonObject } from '../../json.ts';
import type { ToolCall } from '../tool-call.ts';

export function approvedPayload({
  arguments: args,
  phase,
}: Pick<ToolCall, 'arguments' | 'phase'>): JsonObject {
  const terms = phase.kind === 'admit' ? phase.terms : undefined;
  return terms === undefined ? args : { arguments: args, ...terms };
}
