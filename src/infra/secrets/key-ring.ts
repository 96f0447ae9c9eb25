// KeyRing: KeyProvider over keys that this process holds; where they come from is its subclass's part.
import { toolFailure } from '../../contract/call/failure.ts';
import { unwrapKey, wrapKey } from '../../lib/secrets/sealed-text.ts';
import type { KeyProvider, WrappedDataKey } from '../../ports/secrets/key-provider.ts';
import { unreadable } from './envelope-sealer.ts';

/** By id, the current one first. */
export type LocalKeys = ReadonlyMap<string, Buffer>;

export abstract class KeyRing implements KeyProvider {
  abstract readonly kind: KeyProvider['kind'];
  /** At least one. Throws Error with a sentence for the operator. */
  protected abstract keys(wantedId?: string): LocalKeys;
  abstract rotate(): Promise<string>;

  async keyIds(): Promise<readonly [string, ...string[]]> {
    const [current, ...older] = this.keys().keys();
    if (current === undefined) throw new Error('there is no key for secrets');
    return [current, ...older];
  }

  reads(keyId: string): boolean {
    return this.keys(keyId).has(keyId);
  }

  async wrap(dataKey: Buffer): Promise<WrappedDataKey> {
    const [[keyId, key] = []] = this.keys();
    if (keyId === undefined || key === undefined) throw new Error('there is no key for secrets');
    return { keyId, wrapped: wrapKey(key, dataKey, keyId) };
  }

  async unwrap(wrapped: WrappedDataKey): Promise<Buffer> {
    const key = this.keys(wrapped.keyId).get(wrapped.keyId);
    if (key === undefined) throw keyMissing(wrapped.keyId, this.kind);
    const dataKey = unwrapKey(key, wrapped);
    if (dataKey === undefined) throw unreadable();
    return dataKey;
  }
}

function keyMissing(keyId: string, kind: KeyProvider['kind']) {
  const where =
    kind === 'file'
      ? 'data_dir/secret-keys of this gateway has none of that name'
      : 'UTE_SECRETS_KEYS does not hold it';
  const message = `The agent's secrets are encrypted with the key "${keyId}", and ${where}.`;
  return toolFailure('SECRETS_KEY_MISSING', message, { retryable: false, details: { key_id: keyId } });
}
