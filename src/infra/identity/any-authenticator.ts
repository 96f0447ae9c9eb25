// AnyAuthenticator: by what a caller shows, and by whom a call was made, asks whoever knows that kind of credential.
import type { Grant } from '../../contract/call/admitted-call.ts';
import type { Credential, Principal } from '../../contract/call/principal.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import { CERTIFICATE, type CertificateAuthenticator } from '../certificates/certificate-authenticator.ts';
import type { ApiKeyAuthenticator } from '../keys/api-key-authenticator.ts';
import type { TokenAuthenticator } from '../tokens/token-authenticator.ts';

export interface Known {
  readonly keys: ApiKeyAuthenticator;
  /** Left out: nobody is known by those. */
  readonly tokens: TokenAuthenticator | undefined;
  readonly certificates: CertificateAuthenticator | undefined;
}

/** A compact JWS: three parts, none of which holds a dot. A key holds none. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export class AnyAuthenticator implements Authenticator {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  /** Who shows a key or a token is whom that says, whatever the connection. */
  authenticate(credential: Credential, tenant?: string): Principal | Promise<Principal> {
    const { keys, tokens, certificates } = this.#known;
    if (credential.kind === 'bearer' && tokens !== undefined && TOKEN.test(credential.token))
      return tokens.authenticate(credential.token, tenant);
    if (credential.kind === 'certificate' && certificates !== undefined)
      return certificates.authenticate(credential.certificate, tenant);
    return keys.authenticate(credential, tenant);
  }

  recall(grant: Grant): Principal {
    const { keys, tokens, certificates } = this.#known;
    if (grant.token !== undefined && tokens !== undefined) return tokens.recall(grant);
    if (grant.principalId.startsWith(CERTIFICATE) && certificates !== undefined)
      return certificates.recall(grant);
    return keys.recall(grant);
  }
}
