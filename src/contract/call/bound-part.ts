// What a human's approval and an idempotency key stand for: the arguments, and the terms on which the call is to run.
import type { JsonObject } from '../json.ts';
import type { ToolCall } from './tool-call.ts';

export function boundPart({ arguments: args, request }: Pick<ToolCall, 'arguments' | 'request'>): JsonObject {
  return request.terms === undefined ? args : { arguments: args, ...request.terms };
}
