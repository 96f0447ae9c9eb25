// A key service: keeps the operator's keys where this process never sees them, and wraps and unwraps data keys on request.
import type { WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import type { SecretPlace } from '../../../ports/secrets/secret-sealer.ts';

export type KeyIds = readonly [current: string, ...older: string[]];

/** Every method rejects with one of the errors below, or with ToolFailure of the HTTP client; each heeds its signal. */
export interface KeyService {
  readonly kind: 'aws_kms' | 'vault';
  /** Asks the service. Rejects where its current key cannot wrap. */
  keyIds(signal: AbortSignal): Promise<KeyIds>;
  /** Whether a key of this name is one of its own; nothing is asked. */
  reads(keyId: string): boolean;
  wrap(dataKey: Buffer, place: SecretPlace, signal: AbortSignal): Promise<WrappedDataKey>;
  unwrap(wrapped: WrappedDataKey, place: SecretPlace, signal: AbortSignal): Promise<Buffer>;
  rotate(signal: AbortSignal): Promise<void>;
}

/** It does not answer, or answers nobody with these credentials: no other request would fare better. */
export class KeyServiceAway extends Error {
  override readonly name = 'KeyServiceAway';
}

/** It refuses this request: a key that is disabled or forbidden, too many requests. Others may be answered. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
}

/** What was to be unwrapped was changed, or wrapped for another place. */
export class NotUnwrapped extends Error {
  override readonly name = 'NotUnwrapped';
}
