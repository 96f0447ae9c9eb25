// ToolCaller: the core as the doors see it: one function for every tool of every type.
import type { ToolRequest } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';

export interface ToolCaller {
  /** Never throws and never rejects: every outcome is an envelope. */
  execute(request: ToolRequest): Promise<ToolResponse>;
}
