// SessionGate: what a call's session makes of it. Failure policy: deny; a call never runs outside of the session it names.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';

export interface SessionGate {
  /**
   * The call as one of its session: with its agent, user, mode and turn, and the version of the tool that is the session's. As it
   * is, where it names none that was declared. Throws ToolFailure, or rejects with it: NOT_FOUND, SESSION_INACTIVE, MODE_RESTRICTED,
   * VALIDATION, UNAVAILABLE.
   */
  enter(call: ToolCall, fn: ToolFunction): ToolCall | Promise<ToolCall>;
}
