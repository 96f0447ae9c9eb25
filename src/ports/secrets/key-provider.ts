// KeyProvider: the operator's keys. They wrap the keys that secrets are encrypted with, and stay where they are.
import type { SecretPlace } from './secret-sealer.ts';

/** A data key as one of the operator's keys has wrapped it. */
export interface WrappedDataKey {
  readonly keyId: string;
  readonly wrapped: Buffer;
}

export interface KeyProvider {
  /** Where the keys are, for operators: no key, no path of a secret. */
  readonly kind: 'file' | 'environment' | 'aws_kms' | 'vault';
  /** Of all keys that it can unwrap with; the first is the one that wraps. Rejects as `wrap`. */
  keyIds(): Promise<readonly [current: string, ...older: string[]]>;
  /** Whether it can unwrap with the key of this name, as far as it knows without asking anybody. */
  reads(keyId: string): boolean;
  /**
   * With the current key. `place`: whose secret the data key is for; keys elsewhere bind it to that. Rejects with Error where there
   * is no key, with ToolFailure UNAVAILABLE (SECRETS_PROVIDER_AWAY) where it cannot be asked.
   */
  wrap(dataKey: Buffer, place: SecretPlace): Promise<WrappedDataKey>;
  /**
   * The caller may overwrite what it gets. Rejects with ToolFailure UNAVAILABLE: SECRETS_KEY_MISSING, SECRETS_PROVIDER_AWAY, or
   * SECRET_UNREADABLE for what no such key has wrapped, or has for another place.
   */
  unwrap(wrapped: WrappedDataKey, place: SecretPlace): Promise<Buffer>;
  /** Makes another key, or another version of it, and wraps with that from now on. Rejects with ToolFailure CONFLICT where the operator has to. */
  rotate(): Promise<string>;
}
