// AnyAuthenticator: by what a caller shows, and by whom a call was made, asks whoever knows that kind of credential.
import type { Grant } from '../../contract/call/admitted-call.ts';
import type { Credential, Principal } from '../../contract/call/principal.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ApiKeyAuthenticator } from '../keys/api-key-authenticator.ts';
import type { TokenAuthenticator } from '../tokens/token-authenticator.ts';

/** A compact JWS: three parts, none of which holds a dot. A key holds none. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export class AnyAuthenticator implements Authenticator {
  readonly #keys: ApiKeyAuthenticator;
  readonly #tokens: TokenAuthenticator;

  constructor(keys: ApiKeyAuthenticator, tokens: TokenAuthenticator) {
    this.#keys = keys;
    this.#tokens = tokens;
  }

  authenticate(credential: Credential, tenant?: string): Principal | Promise<Principal> {
    if (credential.kind === 'bearer' && TOKEN.test(credential.token))
      return this.#tokens.authenticate(credential.token, tenant);
    return this.#keys.authenticate(credential, tenant);
  }

  recall(grant: Grant): Principal {
    return grant.token === undefined ? this.#keys.recall(grant) : this.#tokens.recall(grant);
  }
}
