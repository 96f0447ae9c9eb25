// Admission: what becomes of a call that is to run later: it is admitted and can be kept, or it has its answer already.
import type { ToolFunction } from '../tool/tool-function.ts';
import type { JsonObject } from '../json.ts';
import type { AskedApproval } from './approval/asked-approval.ts';
import type { AdmittedCall } from './admitted-call.ts';
import type { ToolRequest } from './tool-call.ts';
import type { ToolResponse } from './tool-response.ts';

/** Nobody waits for the call. With a parent it is made for the caller of that one, with what that one may do. */
export interface AdmitRequest extends Omit<ToolRequest, 'emit'> {
  /** On which it is to run, besides its arguments: part of what is approved, and of what an idempotency key stands for. */
  readonly terms?: JsonObject;
  /** Whoever keeps it can keep it until a human has approved it. Left out: the call is refused until then. */
  readonly awaitsApproval?: true;
}

export type Admission = Admitted | Answered;

/** Refused; or a repeat of an idempotency key, which is told where the first call is kept. */
export interface Answered {
  readonly admitted: false;
  readonly response: ToolResponse;
}

/** Where an admitted call is kept. */
export interface KeptCall {
  /** The address that tells how it ends. */
  readonly at: string;
  /** When the approval that it waits for ends, as it is kept; epoch milliseconds. */
  readonly approvalEndsAt?: number;
}

/**
 * Audit, idempotency and whoever else stands around the call wait for it to be kept: exactly one of `kept` and `failed` must
 * follow, within the call's time. Both give the answer for the caller and never reject.
 */
export interface Admitted {
  readonly admitted: true;
  readonly call: AdmittedCall;
  /** What it is a call of, in the version that it was admitted with. */
  readonly function: ToolFunction;
  readonly door: string;
  readonly registryVersion: string;
  readonly traceId: string;
  /** It may not run before a human has approved this, and is to be kept together with it. */
  readonly awaited?: AskedApproval;
  readonly kept: (where: KeptCall) => Promise<ToolResponse>;
  /** It could not be kept: ToolFailure, or anything else that went wrong. */
  readonly failed: (error: unknown) => Promise<ToolResponse>;
}
