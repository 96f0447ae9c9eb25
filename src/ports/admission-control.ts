// AdmissionControl: rate limits, budgets and the concurrency lease, asked for together as one decision.
import type { RateLimitState } from '../contract/call/tool-response.ts';
import type { StoreFailurePolicy } from '../contract/tool/tool-spec.ts';

export interface AdmissionRequest {
  /** Unique per call; asking again with the same id is the same request. */
  readonly callId: string;
  /** Queues are served round-robin over this key. */
  readonly fairnessKey: string;
  readonly rates: readonly RateRule[];
  readonly leases: readonly LeaseRule[];
  /** Left out: none. */
  readonly budgets?: readonly BudgetRule[];
  /** Left out: any number of budgets is counted that was not before. */
  readonly newBudgets?: NewBudgetsRule;
}

export interface RateRule {
  /** What is counted, e.g. `tool:send_email|tenant:acme`. */
  readonly key: string;
  readonly name: string;
  readonly rate: number;
  readonly periodMs: number;
  readonly burst: number;
  /** Counts like any other, refuses nobody: the decision says whom it would have refused. */
  readonly shadow?: boolean;
  /** What holds while there is no store to ask; `local` when left out. Nothing where limits are the process's own. */
  readonly onStoreFailure?: StoreFailurePolicy;
}

export interface LeaseRule {
  readonly key: string;
  readonly limit: number;
  readonly maxQueue: number;
  readonly maxWaitMs: number;
  readonly onStoreFailure?: StoreFailurePolicy;
}

/** What is used up for good: of a turn, a session, a day. All numbers are whole and below 2^53. */
export interface BudgetRule {
  /** What is counted, e.g. `user_calls:["acme","ann"]:2026-11-23`. */
  readonly key: string;
  readonly name: string;
  readonly limit: number;
  /** What this call takes of it. */
  readonly amount: number;
  /** Less will do where less is left: the decision says how much it is. */
  readonly orLess?: boolean;
  /** After its last use nobody asks for the key any more. */
  readonly forgetAfterMs: number;
  readonly onStoreFailure?: StoreFailurePolicy;
}

/** Callers may think of names of users, sessions and turns; what is counted for each of them takes room. */
export interface NewBudgetsRule {
  /** Whose they are. */
  readonly key: string;
  /** So many budgets may begin to be counted in one period. */
  readonly limit: number;
  readonly periodMs: number;
}

/** Refuses, as a rate does, a call that would begin more of them. */
export const NEW_BUDGETS = 'new_budgets';

export type DegradedLimit = 'rate_limit' | 'concurrency' | 'budget';

export type Admission =
  | {
      readonly granted: true;
      readonly rates: readonly RateLimitState[];
      readonly waitedMs: number;
      /** Names of the shadow rules that would have refused. */
      readonly shadowRefusals?: readonly string[];
      /** What was decided without the store, by the policy of its rules. */
      readonly degraded?: readonly DegradedLimit[];
      /** Grows with every granted lease of a shared store: a resource that keeps the greatest can refuse a late holder. */
      readonly fencingToken?: string;
      /** Only where a slot can be lost: runs once if another may have it before this call has released it. */
      whenLost?(listener: () => void): void;
      /** What was taken of each budget. Only where there are budgets. */
      readonly taken?: readonly number[];
      /** `used`: how much of each budget the call has really used; the rest is given back. Left out: all that was taken. */
      release(used?: readonly number[]): void;
    }
  | {
      readonly granted: false;
      readonly refusedBy: 'budget';
      readonly rule: string;
      /** How much of it is used. */
      readonly used: number;
      readonly rates: readonly RateLimitState[];
    }
  | {
      readonly granted: false;
      readonly refusedBy: 'rate' | 'concurrency';
      /** Name of the rule or key of the lease that said no. */
      readonly rule: string;
      readonly retryAfterMs: number;
      readonly rates: readonly RateLimitState[];
    };

export interface AdmissionControl {
  /**
   * All or nothing: no rate or budget is spent and no lease kept when any rule refuses. A rate or a budget that
   * refuses does so at once; a full lease waits in its bounded queue until a slot is free, maxWaitMs, or `signal` aborts
   * (then it rejects with `signal.reason`). Rates and budgets are spent when the call is granted. Without its store, each rule's
   * policy decides; where one says `closed` it rejects with ToolFailure UNAVAILABLE (LIMITS_UNAVAILABLE).
   */
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<Admission>;
  /** How much of each budget is used now. Undefined: nobody can tell. */
  spent(keys: readonly string[]): Promise<readonly number[] | undefined>;
  close(): Promise<void>;
}
