// ToolCallError: what callTool throws in a handler. One that is not caught keeps its type on the way out.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolError } from '../../contract/call/tool-response.ts';

export type StepError = Pick<
  ToolError,
  'type' | 'reason' | 'message' | 'retryable' | 'retryAfterMs' | 'details'
>;

export class ToolCallError extends Error {
  readonly type: string;
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly details: JsonObject;

  constructor({ type, reason, message, retryable, retryAfterMs, details }: StepError) {
    super(message);
    this.name = 'ToolCallError';
    this.type = type;
    this.reason = reason;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
  }
}

export function callIsOver(): Error {
  return new Error('callTool: the call that asks for it is over.');
}
