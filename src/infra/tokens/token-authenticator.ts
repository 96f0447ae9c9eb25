// TokenAuthenticator: who calls with a token (JWT) of an issuer. What was verified once is known until it ends.
import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import { toolFailure } from '../../contract/call/failure.ts';
import type { Grant } from '../../contract/call/admitted-call.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { Clock } from '../../ports/clock.ts';
import { inTenant, type Identity } from '../identity/serves.ts';
import { permissionsOfRoles, type Roles } from '../keys/known-key.ts';
import type { KeySet } from './issuer-keys.ts';
import { mayServe, rolesOf, type TokenClaims } from './token-claims.ts';
import { invalid, type TokenVerifier } from './token-verifier.ts';

interface Known {
  readonly identity: Identity;
  readonly goodUntil: number;
  readonly verifier: TokenVerifier;
  readonly keySet: KeySet;
  readonly roles: Roles;
}

/** Larger ones are refused unread. */
const MOST_CHARS = 8_192;
const MOST_KNOWN = 10_000;
/** Between an issuer, which has none, and a subject: together the id of whoever calls. */
const SUBJECT = '#';

export class TokenAuthenticator {
  readonly #verifiers: ReadonlyMap<string, TokenVerifier>;
  readonly #roles: () => Roles;
  readonly #clock: Clock;
  /** By the hash of the token. */
  readonly #known = new LRUCache<string, Known>({ max: MOST_KNOWN });

  /** `roles`: as gateway.yaml declares them now. */
  constructor(verifiers: readonly TokenVerifier[], roles: () => Roles, clock: Clock) {
    this.#verifiers = new Map(verifiers.map((each) => [each.issuer.issuer, each]));
    this.#roles = roles;
    this.#clock = clock;
  }

  /** At once, if the token was verified before. Throws, or rejects, with ToolFailure. */
  authenticate(token: string, tenant: string | undefined): Principal | Promise<Principal> {
    if (token.length > MOST_CHARS) throw invalid();
    const id = hash('sha256', token, 'base64');
    const known = this.#known.get(id);
    if (known === undefined || known.keySet !== known.verifier.keys.current || known.roles !== this.#roles())
      return this.#verify(id, token).then((identity) => inTenant(identity, tenant));
    if (known.goodUntil > this.#clock.wall()) return inTenant(known.identity, tenant);
    throw toolFailure('CREDENTIAL_EXPIRED', 'The credential has expired.', {
      by: known.identity.principal,
    });
  }

  /** What was granted then, by what its roles mean now, while its issuer may still speak for its tenant. */
  recall({ principalId, tenantId, token }: Grant): Principal {
    const issuer = this.#verifiers.get(principalId.slice(0, principalId.indexOf(SUBJECT)))?.issuer;
    if (issuer === undefined || token === undefined || !mayServe(issuer, tenantId))
      throw toolFailure(
        'CREDENTIAL_REVOKED',
        'The issuer of the token that made the call is not trusted with its tenant any more.',
      );
    const { groups, agents, userId } = token;
    return {
      ...this.#principalOf(principalId, { groups, agents, user: userId }, rolesOf(groups, issuer)),
      tenantId,
    };
  }

  async #verify(id: string, token: string): Promise<Identity> {
    const verifier = this.#verifiers.get(issuerOf(token));
    if (verifier === undefined) throw invalid();
    const { claims, goodUntil, keySet } = await verifier.verify(token);
    const { serves, subject } = claims;
    const roles = this.#roles();
    const { issuer } = verifier;
    const principalId = `${issuer.issuer}${SUBJECT}${subject}`;
    const principal = this.#principalOf(principalId, claims, rolesOf(claims.groups, issuer));
    const tenantId = serves.kind === 'one' ? serves.tenant : '';
    const identity = { serves, principal: Object.freeze({ ...principal, tenantId }) };
    this.#known.set(id, { identity, goodUntil, verifier, keySet, roles });
    return identity;
  }

  #principalOf(
    id: string,
    { groups, agents, user }: Pick<TokenClaims, 'groups' | 'agents' | 'user'>,
    roles: readonly string[],
  ): Omit<Principal, 'tenantId'> {
    return {
      id,
      agents,
      ...(user !== undefined && { userId: user }),
      roles,
      permissions: new Set(permissionsOfRoles(roles, this.#roles())),
      token: { groups },
    };
  }
}

/** As the token says, which nobody has verified: it only chooses whose keys are asked. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    throw invalid();
  }
}
