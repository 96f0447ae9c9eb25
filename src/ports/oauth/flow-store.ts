// FlowStore: authorizations under way. Each is good for minutes, ends with its first use, and is bound to whom it is for.
import type { ConnectionKey } from './connection-store.ts';

export interface FlowDraft extends ConnectionKey {
  /** sha256 of what its link holds, hex. */
  readonly idHash: string;
  readonly kind: 'link' | 'device';
  readonly providerKey: string;
  readonly scopes: readonly string[];
  /** Of a device flow: its code, sealed. */
  readonly sealed: string | null;
  readonly createdBy: string;
  /** The person of that credential, where it names one. */
  readonly createdByUser?: string | null;
  readonly intervalMs: number;
}

export interface Flow extends FlowDraft {
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A browser that goes to the provider: what it will have to show when it comes back. */
export interface FlowStart {
  readonly stateHash: string;
  readonly browserHash: string;
  /** The PKCE verifier, sealed. */
  readonly sealed: string;
}

/** Every method rejects with ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE) while the database is away. */
export interface FlowStore {
  /** `full`: the tenant has so many under way. `missing`: there is no such agent. */
  create(draft: FlowDraft, lifeMs: number, most: number): Promise<Flow | 'full' | 'missing'>;
  /** Undefined: there is none, or its time is over. */
  find(idHash: string): Promise<Flow | undefined>;
  /** A later start takes the place of an earlier one. Undefined as of `find`. */
  start(idHash: string, start: FlowStart): Promise<Flow | undefined>;
  /**
   * By state, browser and provider together, and once: whoever asks second finds nothing. Its row stays, found by nobody else, until
   * its account is connected (`ConnectionStore.connect`), or it is ended.
   */
  take(stateHash: string, browserHash: string, provider: string): Promise<Flow | undefined>;
  /** Of a device flow: true for one of all who ask within its interval, which is longer by `slowerMs` from then on. */
  claimPoll(idHash: string): Promise<boolean>;
  slowDown(idHash: string, byMs: number): Promise<void>;
  /** False: it had ended already. */
  end(idHash: string): Promise<boolean>;
}
