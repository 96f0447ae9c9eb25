// EnvironmentKeys: the keys of UTE_SECRETS_KEYS, the first of them the current one.
import { toolFailure } from '../../contract/call/failure.ts';
import { readKeyList } from '../../lib/secrets/key-list.ts';
import { KeyRing, type LocalKeys } from './key-ring.ts';

export class EnvironmentKeys extends KeyRing {
  readonly kind = 'environment';
  readonly #keys: LocalKeys;

  /** Throws Error where the list is none: settings have refused it by then. */
  constructor(list: string) {
    super();
    const keys = readKeyList(list);
    if (typeof keys === 'string') throw new Error(`UTE_SECRETS_KEYS ${keys}`);
    this.#keys = keys;
  }

  protected keys(): LocalKeys {
    return this.#keys;
  }

  async rotate(): Promise<string> {
    const message =
      'The keys come from UTE_SECRETS_KEYS: put a new one first there, keep the others behind it, and start the gateways anew.';
    throw toolFailure('KEYS_ELSEWHERE', message);
  }
}
