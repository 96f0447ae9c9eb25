// CallStore: calls that were accepted to run later, as rows. The truth about each: who may run it, and its one end.
import type { JsonObject } from '../../contract/json.ts';

export const CALL_STATUSES = [
  'waiting_approval',
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'outcome_unknown',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];
export type EndStatus = Exclude<CallStatus, 'waiting_approval' | 'queued' | 'running'>;

/** A call as it is accepted. Nothing in it is secret, whatever the caller's credential was. */
export interface NewCall {
  readonly id: string;
  readonly kind: 'async' | 'scheduled';
  readonly tenantId: string;
  readonly principalId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly door: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  readonly argumentsHash: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly registryVersion: string;
  readonly traceId: string;
  /** JSON text of what the worker needs to run it. */
  readonly request: string;
  readonly priority: 'low' | 'normal' | 'high';
  /** Not begun any more when it has waited for so long. */
  readonly maxWaitMs: number;
  readonly callbackUrl?: string;
  /** Of a scheduled call: which schedule made it, for which moment (epoch milliseconds). Together unique. */
  readonly schedule?: { readonly id: string; readonly fireTime: number };
}

/** The right to run a call: void as soon as anybody else has it. */
export interface Claim {
  readonly id: string;
  /** Counts the claims of a call. */
  readonly claim: number;
}

/** A claim that is made as the call is accepted: it never waits. */
export interface FirstClaim {
  readonly owner: string;
  readonly leaseMs: number;
}

export interface ClaimedCall extends Claim {
  readonly kind: 'async' | 'scheduled';
  readonly tenantId: string;
  readonly tool: string;
  readonly idempotent: boolean;
  readonly readOnly: boolean;
  /** Runs so far, this one included. */
  readonly run: number;
  readonly request: string;
  /** Of a call that had to wait until a human approved it; null: there is no such approval. */
  readonly approval?: ApprovalGiven | null;
}

/** What the approval was asked for, by its own row: what runs is held to it. */
export interface ApprovalGiven {
  /** False: nobody has decided, and it could still be decided. */
  readonly isDecided: boolean;
  /** False: somebody has it run again, under an approval of its own. */
  readonly isFirst: boolean;
  readonly tool: string;
  readonly toolHash: string;
  readonly argumentsHash: string;
  readonly requestedBy: string;
  readonly agentId: string;
  readonly userId: string;
}

export interface CallEnd {
  readonly status: EndStatus;
  readonly errorType: string | null;
  readonly reason: string | null;
  readonly partialSideEffects: boolean;
  readonly durationMs: number;
  readonly toolVersion: string;
  readonly traceId: string;
  /** The envelope as JSON text, as doors send it. */
  readonly envelope: string;
}

export interface StoredCall {
  readonly id: string;
  readonly kind: 'sync' | 'async' | 'scheduled';
  readonly status: CallStatus;
  readonly tenantId: string;
  readonly principalId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
  /** Where it was accepted. */
  readonly door: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly partialSideEffects: boolean;
  readonly errorType: string | null;
  readonly reason: string | null;
  readonly runs: number;
  readonly claim: number;
  readonly durationMs: number | null;
  readonly registryVersion: string;
  readonly traceId: string;
  readonly cancelRequested: boolean;
  /** What made it; null: no schedule. */
  readonly scheduleId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Of a call that had to wait until a human approved it. */
  readonly approval?: CallApproval;
  /** JSON text of what a worker needs to run it; undefined where nothing was kept. Not for showing. */
  readonly request?: string;
  /** Of an asynchronous call that ended by an answer; without one, status, error type and reason say all there is. */
  readonly envelope?: string;
}

export interface CallApproval {
  readonly id: string;
  /** ISO 8601. */
  readonly expires_at: string;
  /** What the approver wrote who rejected it. */
  readonly comment?: string;
  /** The client that made the call has shown it to its user. */
  readonly shown?: true;
}

export interface StoredEvent {
  /** Counts from 1 within a call. */
  readonly seq: number;
  readonly kind: string;
  readonly data: JsonObject;
}

export interface QueueState {
  /** For a human's decision. */
  readonly waitingApproval: number;
  readonly queued: number;
  readonly running: number;
  readonly oldestWaitingSeconds: number;
}

export type CancelOutcome = 'cancelled' | 'requested' | 'ended';
export type RetryOutcome = 'queued' | 'not_ended' | 'unsafe' | 'succeeded' | 'not_async';

export interface Again {
  readonly force: boolean;
  /** As in NewCall: made anew, by whoever wants it run again. */
  readonly request: string;
  /** Credential id. */
  readonly by: string;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE), AnswerLost among them. All times are the database's own. */
export interface CallStore {
  /**
   * Committed when it resolves. Throws CONCURRENCY_LIMIT (ASYNC_QUEUE_FULL) where the tenant has `maxQueued` waiting;
   * those that come in at the same moment may pass it. With a claim the call is running from then on, by its claim 1.
   */
  accept(call: NewCall, maxQueued: number, claim?: FirstClaim): Promise<void>;
  /**
   * queued → running, for one owner: of those that may run now, `limit` at most, first those to be run first. Throws
   * AnswerLost where they may be the owner's without its being told.
   */
  claim(owner: string, leaseMs: number, limit: number): Promise<readonly ClaimedCall[]>;
  /** What is running for that owner, its leases renewed. Of a claim whose answer was lost: all of it, or nothing yet. */
  reclaim(owner: string, leaseMs: number): Promise<readonly ClaimedCall[]>;
  /** Gives the claims that are still held, and whether somebody wants the call cancelled. */
  renew(
    claims: readonly Claim[],
    leaseMs: number,
  ): Promise<readonly (Claim & { readonly cancelRequested: boolean })[]>;
  /** running → its end. False: the claim is void, and nothing was written. */
  finish(claim: Claim, end: CallEnd): Promise<boolean>;
  /** running → queued, not before `delayMs`; the run does not count. One that is to be cancelled is cancelled. False: void. */
  giveBack(claim: Claim, delayMs: number): Promise<boolean>;
  /**
   * Of running calls whose owner is lost: runs those again that may run twice, at most `maxRuns` times; of the others
   * nobody can tell. And ends what has waited too long, in the queue or for its approval. Gives what became of them.
   */
  sweep(maxRuns: number): Promise<readonly (Claim & { readonly status: CallStatus })[]>;
  /** Undefined: the tenant has no such call. */
  get(tenantId: string, id: string): Promise<StoredCall | undefined>;
  /** A call that waits ends at once, and its approval is closed; a running one is asked to. Undefined: the tenant has no such call. */
  cancel(tenantId: string, id: string): Promise<CancelOutcome | undefined>;
  /** Of a call that waits for its approval: its client has shown that to its user. Of any other call: nothing. */
  approvalShown(tenantId: string, id: string): Promise<void>;
  /**
   * An ended call back to queued, to be run as `again` says. `unsafe`: it may have acted and is not idempotent; `force`
   * runs it all the same.
   */
  retry(tenantId: string, id: string, again: Again): Promise<RetryOutcome | undefined>;
  appendEvents(id: string, events: readonly StoredEvent[]): Promise<void>;
  /** The next event's number for a call that runs again. */
  lastEvent(id: string): Promise<number>;
  events(id: string, afterSeq: number, limit: number): Promise<readonly StoredEvent[]>;
  state(): Promise<QueueState>;
}
