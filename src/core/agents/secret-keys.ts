// SecretKeys: SecretKeyControl. Which key has wrapped how many secrets, a new one, and the old secrets brought over to it.
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { RewrapReport, SecretKeyControl, SecretKeysReport } from '../../ports/agents/agent-control.ts';
import type { ResealedSecret, SealedSecret, SealedSecretStore } from '../../ports/agents/agent-store.ts';
import type { KeyProvider } from '../../ports/secrets/key-provider.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';

export interface SecretKeysNeeds {
  readonly store: SealedSecretStore;
  readonly keys: KeyProvider;
  readonly sealer: Pick<SecretSealer, 'rewrap'>;
  /** Makes a change be in force here. Never rejects. */
  readonly changed: () => Promise<void>;
}

const BATCH = 200;

export class SecretKeys implements SecretKeyControl {
  readonly #needs: SecretKeysNeeds;

  constructor(needs: SecretKeysNeeds) {
    this.#needs = needs;
  }

  async keys(): Promise<SecretKeysReport> {
    const { store, keys } = this.#needs;
    const [ids, counted] = await Promise.all([keys.keyIds(), store.secretsByKey()]);
    const counts = new Map(counted.map(({ keyId, secrets }) => [keyId, secrets]));
    const all = [...ids, ...[...counts.keys()].filter((id) => !ids.includes(id))];
    return {
      provider: keys.kind,
      keys: all.map((keyId) => ({
        keyId,
        isCurrent: keyId === ids[0],
        isHere: ids.includes(keyId),
        secrets: counts.get(keyId) ?? 0,
      })),
    };
  }

  async rotate(): Promise<SecretKeysReport> {
    await this.#needs.keys.rotate();
    return this.keys();
  }

  /** One batch; what cannot be unwrapped here is passed over, so that it does not keep the others from their turn. */
  async rewrap(): Promise<RewrapReport> {
    const { store, keys, changed } = this.#needs;
    const [current] = await keys.keyIds();
    let after: SealedSecret | undefined;
    let rewrapped = 0;
    do {
      const found = await store.wrappedByOthers(current, BATCH, after);
      const resealed = (await Promise.all(found.map((each) => this.#resealed(each)))).filter(
        (each) => each !== undefined,
      );
      if (resealed.length > 0) rewrapped += await store.replaceSealed(resealed);
      after = found.at(-1);
    } while (rewrapped === 0 && after !== undefined);
    if (rewrapped > 0) await changed();
    const report = await this.keys();
    const left = report.keys
      .filter(({ isCurrent }) => !isCurrent)
      .reduce((sum, { secrets }) => sum + secrets, 0);
    return { rewrapped, left };
  }

  async #resealed(secret: SealedSecret): Promise<ResealedSecret | undefined> {
    try {
      const resealed = await this.#needs.sealer.rewrap(secret.sealed, secret);
      return resealed === undefined ? undefined : { ...secret, resealed };
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }
}
