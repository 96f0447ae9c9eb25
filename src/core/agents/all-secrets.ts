// AllSecrets: secrets of agents' tools and tokens of their accounts as one store, for those who look after the keys of both.
import { providerOfPlace } from '../../lib/secrets/token-place.ts';
import type { ResealedSecret, SealedSecret, SealedSecretStore } from '../../ports/agents/agent-store.ts';

export class AllSecrets implements SealedSecretStore {
  readonly #tools: SealedSecretStore;
  readonly #accounts: SealedSecretStore;

  constructor(tools: SealedSecretStore, accounts: SealedSecretStore) {
    this.#tools = tools;
    this.#accounts = accounts;
  }

  async secretsByKey() {
    const counted = await Promise.all([this.#tools.secretsByKey(), this.#accounts.secretsByKey()]);
    const counts = new Map<string, number>();
    for (const { keyId, secrets } of counted.flat()) counts.set(keyId, (counts.get(keyId) ?? 0) + secrets);
    return [...counts].map(([keyId, secrets]) => ({ keyId, secrets }));
  }

  /** Those of tools and of accounts. */
  async wrappedBy(keyId: string, limit: number): Promise<readonly SealedSecret[]> {
    const stores = [this.#tools, this.#accounts];
    return (await Promise.all(stores.map((store) => store.wrappedBy(keyId, limit)))).flat().slice(0, limit);
  }

  /** Those of tools first. */
  async wrappedByOthers(
    keyId: string,
    limit: number,
    after: SealedSecret | undefined,
  ): Promise<readonly SealedSecret[]> {
    if (after !== undefined && isOfAccount(after)) return this.#accounts.wrappedByOthers(keyId, limit, after);
    const found = await this.#tools.wrappedByOthers(keyId, limit, after);
    if (found.length === limit) return found;
    return [...found, ...(await this.#accounts.wrappedByOthers(keyId, limit - found.length, undefined))];
  }

  async replaceSealed(changes: readonly ResealedSecret[]): Promise<number> {
    const ofAccounts = changes.filter(isOfAccount);
    const ofTools = changes.filter((each) => !isOfAccount(each));
    const tools = ofTools.length === 0 ? 0 : await this.#tools.replaceSealed(ofTools);
    return tools + (ofAccounts.length === 0 ? 0 : await this.#accounts.replaceSealed(ofAccounts));
  }
}

function isOfAccount({ tool }: SealedSecret): boolean {
  return providerOfPlace(tool) !== undefined;
}
