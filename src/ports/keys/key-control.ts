// KeyControl: who may make, see and end API keys, and does so. A tenant's keys are that tenant's; nobody grants more than it has.
import type { Principal } from '../../contract/call/principal.ts';
import type { KeyQuery, KeyRecord } from './key-store.ts';

export interface KeyDraft {
  readonly name: string;
  /** Undefined: that of whoever makes the key. Null: the platform's. */
  readonly tenant: string | null | undefined;
  /** Instead of `tenant`: the key serves each of them, or with a star alone any. Undefined: it does not. */
  readonly tenants?: readonly string[] | undefined;
  readonly agents: readonly string[];
  readonly user: string | null;
  readonly roles: readonly string[];
  readonly expiresAt: Date | null;
}

export type KeyState = 'active' | 'expired' | 'revoked';

export interface MadeKey {
  readonly record: KeyRecord;
  /** The text that callers send. Nobody can read it again. */
  readonly text: string;
}

/**
 * What is changed is in force here when the promise resolves, and on every other replica within five seconds, as long as
 * they can read the database. Rejects with
 * ToolFailure: PERMISSION_DENIED, NOT_FOUND for a key of another tenant and for one that is not there, UNAVAILABLE.
 */
export interface KeyControl {
  stateOf(record: KeyRecord): KeyState;
  list(by: Principal, query: KeyQuery): Promise<readonly KeyRecord[]>;
  get(by: Principal, id: string): Promise<KeyRecord>;
  create(by: Principal, draft: KeyDraft): Promise<MadeKey>;
  /** The secret from before is good for another `keepMs`. */
  rotate(by: Principal, id: string, keepMs: number): Promise<MadeKey>;
  /** Null: it does not expire. */
  expire(by: Principal, id: string, at: Date | null): Promise<KeyRecord>;
  revoke(by: Principal, id: string): Promise<KeyRecord>;
}
