// AttemptSpans: a span around each attempt, so that a trace shows which of them took the time.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';

export interface AttemptSpans {
  /** `execute` gets the call with the trace context of the attempt in it. Rejects as `execute` does. */
  around(call: ToolCall, execute: (call: ToolCall) => Promise<ToolResult>): Promise<ToolResult>;
}
