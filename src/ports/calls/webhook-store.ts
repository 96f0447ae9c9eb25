// WebhookStore: messages that are due when a call has ended, kept until they are delivered or given up.
import type { StoredCall } from './call-store.ts';

/** A message that this replica is to send now. */
export interface DueMessage {
  readonly id: string;
  readonly url: string;
  /** Attempts, this one included. */
  readonly attempt: number;
}

/** Messages that are kept until they are delivered or given up. Every method may throw ToolFailure UNAVAILABLE. */
export interface Outbox<Due extends DueMessage> {
  /** Messages whose time has come; nobody else gets them within `leaseMs`. */
  claim(limit: number, leaseMs: number): Promise<readonly Due[]>;
  delivered(id: string, attempt: number): Promise<void>;
  failed(
    id: string,
    attempt: number,
    error: string,
    next: { readonly afterMs: number } | 'give_up',
  ): Promise<void>;
}

/** Of a call that has ended. */
export interface DueWebhook extends DueMessage {
  readonly call: StoredCall;
}

export interface DeadWebhook {
  readonly id: string;
  readonly callId: string;
  readonly url: string;
  readonly attempts: number;
  readonly lastError: string;
  readonly createdAt: Date;
  readonly finishedAt: Date;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). */
export interface WebhookStore extends Outbox<DueWebhook> {
  /** Given up, newest first, from before the message named. */
  dead(tenantId: string, limit: number, before?: string): Promise<readonly DeadWebhook[]>;
  /** Sends it again, from the first attempt. False: the tenant has no such dead message. */
  redrive(tenantId: string, id: string): Promise<boolean>;
  /** Of ended calls: messages still to be sent, and given up. */
  counts(): Promise<{ readonly pending: number; readonly dead: number }>;
}
