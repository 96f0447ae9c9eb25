// CallAnalytics: what a tenant's calls add up to over some days, by tool, by agent and by day.

export interface AnalyticsQuery {
  /** Calls that came in at this time or later, and before that one. */
  readonly from: Date;
  readonly to: Date;
  readonly tool?: string | undefined;
  readonly agentId?: string | undefined;
  /** What one call of a tool costs, by its name. */
  readonly costs: ReadonlyMap<string, number>;
  /** Most agents and kinds of failure, those with the most calls first. Days and tools are all there. */
  readonly most: number;
}

export interface CallCounts {
  readonly calls: number;
  readonly succeeded: number;
  /** Neither succeeded nor waiting for an approval. */
  readonly failed: number;
  /** Answered with CONFIRMATION_REQUIRED: a human was to approve them. */
  readonly unapproved: number;
  /** Reached their executor. Times and cost are of these alone. */
  readonly ran: number;
  readonly meanMs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
  readonly cost: number;
  readonly lastAt: Date | null;
}

export interface FailureCount {
  /** Empty: the name that was asked for is no tool. */
  readonly tool: string;
  readonly errorType: string;
  readonly reason: string;
  readonly calls: number;
  readonly lastAt: Date;
}

export interface CallAnalytics {
  /** Later than asked for: there were more calls than are counted, and the newest were. */
  readonly countedFrom: Date;
  readonly isComplete: boolean;
  readonly totals: CallCounts;
  readonly byTool: readonly (CallCounts & { readonly tool: string })[];
  readonly byAgent: readonly (CallCounts & { readonly agentId: string })[];
  /** UTC, oldest first. */
  readonly byDay: readonly (CallCounts & { readonly day: string })[];
  readonly failures: readonly FailureCount[];
}
