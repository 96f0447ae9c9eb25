// ToolCaller: the core as doors, workers and schedules see it: one way in for each phase of a call.
import type { AdmitRequest, Admission } from '../contract/call/admission.ts';
import type { AdmittedCall } from '../contract/call/admitted-call.ts';
import type { Explanation, ExplainRequest } from '../contract/call/explanation.ts';
import type { ToolRequest } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';

/** None of them ever throws or rejects: every outcome is an envelope. */
export interface ToolCaller {
  /** The whole way, for whoever waits for the end. */
  execute(request: ToolRequest): Promise<ToolResponse>;
  /** As far as a call can come without running: allowed, valid, approved. */
  admit(request: AdmitRequest): Promise<Admission>;
  /** The rest of the way of a call that was admitted before; with a refusal it ends by that, on record like any other. */
  resume(
    call: AdmittedCall,
    watched?: Pick<ToolRequest, 'emit' | 'signal' | 'refusal'>,
  ): Promise<ToolResponse>;
  /** How it would be decided. Nothing runs, nothing is counted or kept. */
  explain(request: ExplainRequest): Promise<Explanation>;
}
