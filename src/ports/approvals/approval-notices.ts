// ApprovalNotices: what has happened to approvals, in order, and the messages about it that are due to hooks.
import type { Outbox } from '../calls/webhook-store.ts';
import type { Approval } from './approval-store.ts';

export const APPROVAL_EVENTS = ['asked', 'expiring', 'decided'] as const;
/** Each happens once to an approval at most. `decided`: approved, rejected or cancelled. */
export type ApprovalEventKind = (typeof APPROVAL_EVENTS)[number];

export interface ApprovalEvent {
  /** Grows with every event, over all tenants. */
  readonly seq: number;
  readonly kind: ApprovalEventKind;
  readonly at: Date;
  /** As it stands now. */
  readonly approval: Approval;
}

export interface DueNotice extends ApprovalEvent {
  readonly id: string;
  /** The hook's name in gateway.yaml. */
  readonly hook: string;
  readonly url: string;
  /** Attempts, this one included. */
  readonly attempt: number;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). */
export interface ApprovalNotices extends Outbox<DueNotice> {
  /** Marks undecided approvals that expire soon as `expiring`, each once. Gives how many. */
  remind(): Promise<number>;
  /** Of the tenant, oldest first. */
  events(tenantId: string, afterSeq: number, limit: number): Promise<readonly ApprovalEvent[]>;
  /** Of the tenant's last event; 0: there is none. */
  lastEvent(tenantId: string): Promise<number>;
}
