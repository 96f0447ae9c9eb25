// KeyProvider: the operator's keys. They wrap the keys that secrets are encrypted with, and stay where they are.

/** A data key as one of the operator's keys has wrapped it. */
export interface WrappedDataKey {
  readonly keyId: string;
  readonly wrapped: Buffer;
}

export interface KeyProvider {
  /** Where the keys are, for operators: no key, no path of a secret. */
  readonly kind: 'file' | 'environment';
  /** Of all keys that it can unwrap with; the first is the one that wraps. Rejects as `wrap`. */
  keyIds(): Promise<readonly [current: string, ...older: string[]]>;
  /** With the current key. Rejects with Error where there is none. */
  wrap(dataKey: Buffer): Promise<WrappedDataKey>;
  /** Rejects with ToolFailure UNAVAILABLE: SECRETS_KEY_MISSING, or SECRET_UNREADABLE for what no such key has wrapped. */
  unwrap(wrapped: WrappedDataKey): Promise<Buffer>;
  /** Makes another key and wraps with that from now on. Rejects with ToolFailure CONFLICT where the operator has to. */
  rotate(): Promise<string>;
}
