// CallHistory: what was called and how it ended, for those who look afterwards. Each tenant sees its own alone.
import type { JsonObject } from '../../contract/json.ts';
import type { AuditKind } from '../audit-sink.ts';
import type { AnalyticsQuery, CallAnalytics } from './call-analytics.ts';
import type { CallSequences, SequencesQuery } from './call-sequences.ts';
import type { CallStatus, StoredCall } from './call-store.ts';

/** A page of a list that is read newest first. */
export interface HistoryPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; absent: this was the last one. */
  readonly next?: HistoryPosition;
}

/** After which row a page begins. */
export interface HistoryPosition {
  /** Epoch microseconds. */
  readonly at: number;
  readonly id: string;
}

export interface HistoryQuery<Filter> {
  readonly filter: Filter;
  readonly limit: number;
  readonly after?: HistoryPosition;
}

interface Between {
  readonly from?: Date;
  readonly to?: Date;
}

export interface CallFilter extends Between {
  readonly tool?: string;
  readonly status?: CallStatus;
  readonly errorType?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
}

/** Whose accepted calls. Each further field: only those that were made for it. */
export interface TaskFilter {
  readonly principalId: string;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

export interface AuditFilter extends Between {
  readonly kind?: AuditKind;
  readonly callId?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly principalId?: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly sessionId?: string;
}

interface Caller {
  readonly principalId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly sessionId: string;
}

export interface CallSummary extends Caller {
  readonly id: string;
  readonly kind: 'sync' | 'async' | 'scheduled';
  readonly status: CallStatus;
  readonly door: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  readonly argumentsHash: string;
  readonly errorType: string | null;
  readonly reason: string | null;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly partialSideEffects: boolean;
  readonly attempts: number;
  readonly durationMs: number | null;
  readonly registryVersion: string;
  readonly traceId: string;
  readonly notes: JsonObject | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

export interface AuditEntry extends Caller {
  /** Its place in the chain of its tenant, and its hash there; null of a record of a version without a chain. */
  readonly seq: number | null;
  readonly hash: string | null;
  readonly eventId: string;
  readonly kind: AuditKind;
  readonly at: Date;
  readonly callId: string;
  readonly door: string;
  readonly requestedTool: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  readonly outcome: string;
  readonly reason: string;
  readonly argumentsHash: string;
  readonly attempts: number;
  readonly durationMs: number;
  readonly partialSideEffects: boolean;
  readonly registryVersion: string;
  readonly traceId: string;
  readonly notes: JsonObject | null;
}

/** What a human found out about a call whose outcome is unknown. */
export interface Resolution {
  readonly outcome: 'succeeded' | 'failed';
  readonly comment: string;
  /** Credential id. */
  readonly by: string;
}

export type ResolveOutcome =
  | { readonly resolved: true; readonly call: CallSummary }
  | { readonly resolved: false; readonly status: CallStatus };

/** What of a user is to go. */
export interface Erasure {
  readonly tenantId: string;
  readonly userId: string;
  /** Credential id of who asks for it. */
  readonly by: string;
}

export interface Erased {
  /** Audit records whose personal data went. */
  readonly records: number;
  /** Rows that went. */
  readonly calls: number;
  readonly approvals: number;
  readonly sessions: number;
  readonly schedules: number;
  /** API keys that were revoked. */
  readonly keys: number;
  /** Votes that the user had handed on, or was handed. */
  readonly delegations: number;
  /** Accounts at providers that the user connected: their tokens are deleted, and revoked where the provider takes them back. */
  readonly accounts: number;
  /** Rows that are left: they are still in use. */
  readonly inUse: number;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). */
export interface CallHistory {
  /** What this process has answered before is in it. */
  calls(tenantId: string, query: HistoryQuery<CallFilter>): Promise<HistoryPage<CallSummary>>;
  /** Calls that were accepted at the MCP door, without what they were asked with and what they answered. */
  tasks(tenantId: string, query: HistoryQuery<TaskFilter>): Promise<HistoryPage<StoredCall>>;
  audit(tenantId: string, query: HistoryQuery<AuditFilter>): Promise<HistoryPage<AuditEntry>>;
  /** Of the newest records of that time, so many at most. May throw UNAVAILABLE (ANALYTICS_BUSY). */
  analytics(tenantId: string, query: AnalyticsQuery): Promise<CallAnalytics>;
  /** Of the newest records likewise. May throw UNAVAILABLE (ANALYTICS_BUSY). */
  sequences(tenantId: string, query: SequencesQuery): Promise<CallSequences>;
  /**
   * The chain of the tenant as lines that can be checked offline: after the number `after`, in the order of the chain.
   * Fewer than `limit`: there are no more.
   */
  exportChain(tenantId: string, after: number, limit: number): Promise<readonly string[]>;
  /** Ends an unknown outcome, once, together with its audit record. Undefined: the tenant has no such call. */
  resolve(tenantId: string, callId: string, resolution: Resolution): Promise<ResolveOutcome | undefined>;
  /** Goes on where another has ended; each part is recorded together with what it erases. */
  eraseUser(erasure: Erasure): Promise<Erased>;
}
