// What a task says of itself: an accepted call, in the words of the protocol.
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import type { Era } from '../protocol/exchange.ts';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

export interface TaskTerms {
  readonly era: Era;
  /** Whether the client opens URLs for its user. */
  readonly opensUrls: boolean;
  /** Where approvers reach this gateway. */
  readonly approvalsUrl: string;
  /** For how long an ended call is kept. */
  readonly keptMs: number;
}

/** A client that follows its calls by events needs none of it; one that asks is not to ask more often. */
const POLL_MS = 1_000;
/** A human takes longer. */
const POLL_APPROVAL_MS = 5_000;

const MESSAGES: Readonly<Partial<Record<StoredCall['status'], string>>> = {
  queued: 'The call waits for its turn.',
  running: 'The call is running.',
  outcome_unknown: 'The replica that ran the call was lost: whether the tool acted is not known.',
};

/** `failsByProtocol`: it ended in an error of JSON-RPC, which is all that fails a task of 2026-07-28. */
export function taskFields(call: StoredCall, terms: TaskTerms, failsByProtocol = false) {
  const { createdAt, startedAt, finishedAt } = call;
  const said = messageOf(call, terms);
  const ttl = keptFor(call, terms.keptMs);
  const poll = call.status === 'waiting_approval' ? POLL_APPROVAL_MS : POLL_MS;
  return {
    taskId: call.id,
    status: statusOf(call, terms, failsByProtocol),
    ...(said !== undefined && { statusMessage: said }),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: (finishedAt ?? startedAt ?? createdAt).toISOString(),
    ...(terms.era === 'modern' ? { ttlMs: ttl, pollIntervalMs: poll } : { ttl, pollInterval: poll }),
  };
}

export type TaskFields = ReturnType<typeof taskFields>;

export function statusOf(
  call: StoredCall,
  { era, opensUrls }: Pick<TaskTerms, 'era' | 'opensUrls'>,
  failsByProtocol: boolean,
): TaskStatus {
  if (isCancelled(call, era)) return 'cancelled';
  if (call.status === 'waiting_approval')
    return opensUrls && call.approval !== undefined && call.approval.shown !== true
      ? 'input_required'
      : 'working';
  if (call.finishedAt === null) return 'working';
  if (call.status === 'succeeded') return 'completed';
  return era === 'legacy' || failsByProtocol ? 'failed' : 'completed';
}

/** In 2025-11-25 a task is cancelled with the answer to whoever cancels it, and stays so whatever the call becomes. */
export function isCancelled({ status, cancelRequested }: StoredCall, era: Era): boolean {
  return status === 'cancelled' || (era === 'legacy' && cancelRequested);
}

export function isOver(call: StoredCall, era: Era): boolean {
  return call.finishedAt !== null || isCancelled(call, era);
}

function messageOf(call: StoredCall, terms: TaskTerms): string | undefined {
  const { status, approval, errorType, reason } = call;
  if (isCancelled(call, terms.era)) return 'The call was cancelled.';
  if (status === 'waiting_approval') {
    const where = approval === undefined ? '' : `: ${approvalUrl(approval.id, terms)}`;
    return `A human has to approve this call${where}. It runs by itself once somebody has.`;
  }
  if (status === 'failed' && errorType !== null)
    return reason === null || reason === errorType ? errorType : `${errorType}: ${reason}`;
  return MESSAGES[status];
}

export function approvalUrl(id: string, { approvalsUrl }: Pick<TaskTerms, 'approvalsUrl'>): string {
  return `${approvalsUrl}/v1/approvals/${id}`;
}

/** From its creation on. Of a call that has not ended it grows with the call. Null: for ever. */
function keptFor({ createdAt, finishedAt }: StoredCall, keptMs: number): number | null {
  if (!Number.isFinite(keptMs)) return null;
  return keptMs + Math.max(0, (finishedAt ?? createdAt).getTime() - createdAt.getTime());
}
