// NestedCalls: a tool that calls tools. Each step is a full call through the pipeline, as the same caller.
import type { JsonObject } from '../contract/json.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';

export interface NestedCalls {
  /**
   * Calls `tool` as a step of `parent`: same credential, context and registry snapshot, never longer than what is left
   * of the parent's time, ended when the parent is. Too deep or too many steps is a refusal. Never rejects.
   */
  run(parent: ToolCall, tool: string, args: JsonObject): Promise<ToolResponse>;
}
