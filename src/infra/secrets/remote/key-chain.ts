// KeyChain: one provider wraps, the others still read what they have wrapped: how secrets move from one place of keys to another.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { KeyProvider, WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import type { SecretPlace } from '../../../ports/secrets/secret-sealer.ts';

export class KeyChain implements KeyProvider {
  readonly #current: KeyProvider;
  readonly #readers: readonly KeyProvider[];

  constructor(current: KeyProvider, readers: readonly KeyProvider[]) {
    this.#current = current;
    this.#readers = readers;
  }

  get kind() {
    return this.#current.kind;
  }

  reads(keyId: string): boolean {
    return this.#all().some((each) => each.reads(keyId));
  }

  /** One that only reads, and is away, is left out of the list. */
  async keyIds(): Promise<readonly [string, ...string[]]> {
    const [current, ...older] = await this.#current.keyIds();
    const others = this.#readers.map((each) => each.keyIds().catch(() => []));
    return [current, ...older, ...(await Promise.all(others)).flat()];
  }

  wrap(dataKey: Buffer, place: SecretPlace): Promise<WrappedDataKey> {
    return this.#current.wrap(dataKey, place);
  }

  async unwrap(wrapped: WrappedDataKey, place: SecretPlace): Promise<Buffer> {
    const { keyId } = wrapped;
    const reader = this.#all().find((each) => each.reads(keyId));
    if (reader !== undefined) return reader.unwrap(wrapped, place);
    const message = `The agent's secrets are encrypted with the key "${keyId}", and no provider of keys in the settings (secrets) has it.`;
    throw toolFailure('SECRETS_KEY_MISSING', message, { retryable: false, details: { key_id: keyId } });
  }

  rotate(): Promise<string> {
    return this.#current.rotate();
  }

  #all(): readonly KeyProvider[] {
    return [this.#current, ...this.#readers];
  }
}
