// EnvelopeSealer: SecretSealer with a random key for each secret, wrapped by a key of the operator's.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import {
  decrypt,
  encrypt,
  newDataKey,
  readSealed,
  writeSealed,
  type SealedText,
} from '../../lib/secrets/sealed-text.ts';
import type { KeyProvider } from '../../ports/secrets/key-provider.ts';
import type { SecretPlace, SecretSealer } from '../../ports/secrets/secret-sealer.ts';

export class EnvelopeSealer implements SecretSealer {
  readonly #keys: KeyProvider;

  constructor(keys: KeyProvider) {
    this.#keys = keys;
  }

  async seal(text: string, place: SecretPlace): Promise<string> {
    const dataKey = newDataKey();
    try {
      const encrypted = encrypt(dataKey, Buffer.from(text, 'utf8'), placeText(place));
      return writeSealed({ ...(await this.#keys.wrap(dataKey, place)), ...encrypted });
    } finally {
      dataKey.fill(0);
    }
  }

  async open(sealed: string, place: SecretPlace): Promise<string> {
    const read = readOrRefuse(sealed);
    const dataKey = await this.#keys.unwrap(read, place);
    try {
      const plain = decrypt(dataKey, read, placeText(place));
      if (plain !== undefined) return plain.toString('utf8');
    } finally {
      dataKey.fill(0);
    }
    throw unreadable();
  }

  async rewrap(sealed: string, place: SecretPlace): Promise<string | undefined> {
    const read = readOrRefuse(sealed);
    const [current] = await this.#keys.keyIds();
    if (read.keyId === current) return undefined;
    const dataKey = await this.#keys.unwrap(read, place);
    try {
      return writeSealed({ ...read, ...(await this.#keys.wrap(dataKey, place)) });
    } finally {
      dataKey.fill(0);
    }
  }
}

export function unreadable(): ToolFailure {
  const message =
    'A secret of the agent cannot be decrypted: it was changed in the database, or belongs to something else. Set it anew.';
  return toolFailure('SECRET_UNREADABLE', message, { retryable: false });
}

function readOrRefuse(sealed: string): SealedText {
  const read = readSealed(sealed);
  if (read === undefined) throw unreadable();
  return read;
}

/** No name of one part can be taken for the end of it and the beginning of another. */
export function placeText({ tenantId, agent, tool, field }: SecretPlace): string {
  return ['v1', tenantId, agent, tool, field]
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join('|');
}
