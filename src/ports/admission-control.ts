// AdmissionControl: rate limits and the concurrency lease, asked for together as one decision.
import type { RateLimitState } from '../contract/call/tool-response.ts';
import type { StoreFailurePolicy } from '../contract/tool/tool-spec.ts';

export interface AdmissionRequest {
  /** Unique per call; asking again with the same id is the same request. */
  readonly callId: string;
  /** Queues are served round-robin over this key. */
  readonly fairnessKey: string;
  readonly rates: readonly RateRule[];
  readonly leases: readonly LeaseRule[];
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

export type DegradedLimit = 'rate_limit' | 'concurrency';

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
      release(): void;
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
   * All or nothing: no rate is spent and no lease kept when any rule refuses. A rate that refuses does so
   * at once; a full lease waits in its bounded queue until a slot is free, maxWaitMs, or `signal` aborts
   * (then it rejects with `signal.reason`). Rates are spent when the call is granted. Without its store, each rule's
   * policy decides; where one says `closed` it rejects with ToolFailure UNAVAILABLE (LIMITS_UNAVAILABLE).
   */
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<Admission>;
  close(): Promise<void>;
}
