// WaitingCalls: calls that are accepted before a human has approved them. The decision itself has them run, or ends them.
import type { NewApproval } from '../approvals/approval-store.ts';
import type { NewCall } from './call-store.ts';

export interface WaitingCalls {
  /**
   * Call and approval, committed together when it resolves; kept once, however often it is asked for. Gives when the approval
   * ends, by the time that tells whether it has: epoch milliseconds. Throws ToolFailure
   * UNAVAILABLE (APPROVALS_FULL, DATABASE_UNAVAILABLE, AnswerLost among them) or CONCURRENCY_LIMIT (ASYNC_QUEUE_FULL).
   */
  keep(call: NewCall, approval: NewApproval, maxQueued: number): Promise<number>;
}
