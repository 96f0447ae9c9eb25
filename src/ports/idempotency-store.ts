// IdempotencyStore: which keyed call is under way and how the ended ones ended, so that none is run twice by mistake.
import type { Intent } from '../contract/call/intent.ts';
import type { AwaitedApproval, ToolError, Truncation } from '../contract/call/tool-response.ts';

/** One key for one tool, of one credential and of whom it speaks for. */
export interface KeyScope {
  readonly tenantId: string;
  readonly principalId: string;
  readonly tool: string;
  readonly key: string;
  /** Hash of agent, user and session; empty where the call names none of them. */
  readonly callerHash: string;
}

export interface KeyClaim {
  readonly callId: string;
  /** Hash of what is asked for: the same key for something else is a mistake of the caller. */
  readonly fingerprint: string;
  /** Whether a call whose owner died may be run a second time. */
  readonly mayRunAgain: boolean;
  /** The owner is taken for dead when it has not renewed for so long. */
  readonly leaseMs: number;
  /** How long the key is kept, from now. */
  readonly keepMs: number;
}

export type KeyState =
  /** The call is this one's to run; `attempt` is above 1 when an owner before it died. */
  | { readonly state: 'mine'; readonly attempt: number }
  | { readonly state: 'in_flight'; readonly callId: string }
  | { readonly state: 'ended'; readonly callId: string; readonly outcome: StoredOutcome }
  | { readonly state: 'other_payload' }
  /** The owner died, nobody knows how far it got, and the call may not be run again. */
  | { readonly state: 'unknown'; readonly callId: string };

/** What of an answer is the same for whoever asks again. */
export type StoredOutcome =
  | {
      readonly ok: true;
      /** JSON text. */
      readonly dataJson: string;
      readonly intents: readonly Intent[];
      readonly truncated?: Truncation;
      readonly acceptedAt?: string;
      readonly awaited?: AwaitedApproval;
    }
  | { readonly ok: false; readonly error: ToolError };

export interface HeldKey extends KeyScope {
  readonly callId: string;
}

/** Every method may throw ToolFailure UNAVAILABLE (DATABASE_UNAVAILABLE). */
export interface IdempotencyStore {
  /**
   * One decision: of two that begin at once, one gets `mine`. A call that asks again, because it was not told the first
   * time, gets the same. Throws AnswerLost where it may have got the key.
   */
  begin(scope: KeyScope, claim: KeyClaim): Promise<KeyState>;
  /** Says that the owners of these keys are alive. */
  renew(held: readonly HeldKey[], leaseMs: number): Promise<void>;
  /** Keeps the outcome; false when the key is not the call's any more. */
  end(held: HeldKey, outcome: StoredOutcome): Promise<boolean>;
  /** Nothing was run: the key is free again, `unknown` or not. False: it was not the call's. */
  release(held: HeldKey): Promise<boolean>;
}
