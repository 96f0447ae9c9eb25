// AdmissionControl: rate limits and the concurrency lease, asked for together as one decision.
import type { RateLimitState } from '../contract/tool-response.ts';

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
}

export interface LeaseRule {
  readonly key: string;
  readonly limit: number;
  readonly maxQueue: number;
  readonly maxWaitMs: number;
}

export type Admission =
  | {
      readonly granted: true;
      readonly rates: readonly RateLimitState[];
      readonly waitedMs: number;
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
   * at once; a full lease waits in its bounded queue until a place is free, maxWaitMs, or `signal` aborts
   * (then it rejects with `signal.reason`). Rates are spent when the call is granted.
   */
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<Admission>;
  close(): Promise<void>;
}
