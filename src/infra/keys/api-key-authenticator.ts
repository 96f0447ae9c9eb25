// ApiKeyAuthenticator: API keys, checked against hashes held in memory. AnonymousAuthenticator: UTE_AUTH=none.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { Grant } from '../../contract/call/admitted-call.ts';
import {
  holds,
  PLATFORM_PERMISSIONS,
  type Credential,
  type Principal,
} from '../../contract/call/principal.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { parseApiKey, sameHash } from '../../lib/secrets/api-key.ts';
import { isSamePerson } from '../../lib/callers/same-person.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyRecord } from '../../ports/keys/key-store.ts';
import { inTenant, stillServes, type Identity } from '../identity/serves.ts';
import { configuredKeys, recordedKeys, type KnownKey, type Roles, type StoredKey } from './known-key.ts';

/** A text that was let in, and until when it is. */
interface Accepted {
  readonly identity: Identity;
  readonly goodUntil: number;
}

/** Compared with when the id is unknown, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = Buffer.alloc(32);
const MAX_ACCEPTED = 1_000;

export class ApiKeyAuthenticator implements Authenticator {
  #configured: ReadonlyMap<string, KnownKey>;
  #recorded: ReadonlyMap<string, KnownKey> = new Map();
  #records: readonly KeyRecord[] = [];
  #roles: Roles;
  /** Keys that were checked before, by their text: agents call often, and a hash a call adds up. In memory only. */
  readonly #accepted = new Map<string, Accepted>();
  readonly #clock: Clock;

  /** Throws Error when a key names a role that is not there, or two keys share an id. */
  constructor(keys: readonly StoredKey[], roles: Roles, clock: Clock) {
    this.#clock = clock;
    this.#configured = configuredKeys(keys, roles);
    this.#roles = roles;
  }

  /** As gateway.yaml declares them now. */
  get roles(): Roles {
    return this.#roles;
  }

  /** From now on these and no others of gateway.yaml. Throws as the constructor does, and changes nothing then. */
  replace(keys: readonly StoredKey[], roles: Roles): void {
    this.#configured = configuredKeys(keys, roles);
    this.#roles = roles;
    this.#recorded = recordedKeys(this.#records, roles);
    this.#accepted.clear();
  }

  /** From now on these and no others of the database. An id that gateway.yaml has is gateway.yaml's. */
  replaceRecorded(keys: readonly KeyRecord[]): void {
    this.#records = keys;
    this.#recorded = recordedKeys(keys, this.#roles);
    this.#accepted.clear();
  }

  /** Whether a key that is good now may make others: whoever holds it can let everybody else in. */
  get hasAdmin(): boolean {
    const known = [...this.#configured.values(), ...this.#recorded.values()];
    return known.some((key) => isAdmin(key, this.#clock.wall()));
  }

  authenticate(credential: Credential, tenant?: string): Principal {
    return inTenant(this.#identify(credential), tenant);
  }

  recall({ principalId, tenantId }: Grant): Principal {
    const known = this.#known(principalId);
    if (known === undefined)
      throw refused('CREDENTIAL_REVOKED', 'The credential that made the call is not valid any more.');
    const identity = this.#ifNotExpired({ identity: known.identity, goodUntil: known.expiresAt });
    if (!stillServes(identity, tenantId))
      throw refused(
        'CREDENTIAL_REVOKED',
        'The credential that made the call does not serve its tenant any more.',
      );
    return inTenant(identity, tenantId);
  }

  /** Who calls with the keys of the tenant that name this person and are good now. */
  ofPerson(tenantId: string, userId: string): readonly Principal[] {
    const now = this.#clock.wall();
    const known = new Map([...this.#recorded, ...this.#configured]);
    return [...known.values()]
      .filter(({ identity, expiresAt }) => {
        const isTheirs = isSamePerson(identity.principal.userId, userId);
        return isTheirs && expiresAt > now && stillServes(identity, tenantId);
      })
      .map(({ identity }) => inTenant(identity, tenantId));
  }

  #identify(credential: Credential): Identity {
    if (credential.kind === 'several')
      throw refused(
        'CREDENTIALS_DIFFER',
        'The request shows two credentials that are not the same: send one, as Authorization: Bearer or as X-API-Key.',
      );
    if (credential.kind !== 'bearer')
      throw refused(
        'CREDENTIAL_MISSING',
        'A credential is needed: send an API key as Authorization: Bearer or X-API-Key.',
      );
    const seen = this.#accepted.get(credential.token);
    if (seen !== undefined) return this.#ifNotExpired(seen);
    const shown = parseApiKey(credential.token);
    const known = shown === undefined ? undefined : this.#known(shown.id);
    // Both are always compared: how long it takes says nothing about rotations either.
    const isCurrent = sameHash(shown?.secretHash ?? NO_HASH, known?.secret.hash ?? NO_HASH);
    const isPrevious = sameHash(shown?.secretHash ?? NO_HASH, known?.previous?.hash ?? NO_HASH);
    if (known === undefined || !(isCurrent || isPrevious))
      throw refused('CREDENTIAL_INVALID', 'The credential is not valid.');
    const secret = isCurrent ? known.secret : known.previous;
    const goodUntil = Math.min(known.expiresAt, secret?.goodUntil ?? 0);
    const accepted = { identity: known.identity, goodUntil };
    if (this.#accepted.size >= MAX_ACCEPTED) this.#accepted.clear();
    this.#accepted.set(credential.token, accepted);
    return this.#ifNotExpired(accepted);
  }

  #known(id: string): KnownKey | undefined {
    return this.#configured.get(id) ?? this.#recorded.get(id);
  }

  #ifNotExpired({ identity, goodUntil }: Accepted): Identity {
    if (goodUntil > this.#clock.wall()) return identity;
    const { principal: by } = identity;
    throw toolFailure('CREDENTIAL_EXPIRED', 'The credential has expired.', { by });
  }
}

export function isAdmin({ identity, expiresAt }: KnownKey, now: number): boolean {
  return expiresAt > now && holds(identity.principal, 'keys:manage');
}

export class AnonymousAuthenticator implements Authenticator {
  readonly #identity: Identity = {
    serves: { kind: 'one', tenant: 'default' },
    principal: {
      id: 'anonymous',
      tenantId: 'default',
      agents: ['*'],
      roles: ['platform_admin'],
      permissions: new Set(['*', ...PLATFORM_PERMISSIONS]),
    },
  };

  authenticate(_credential?: Credential, tenant?: string): Principal {
    return inTenant(this.#identity, tenant);
  }

  recall(): Principal {
    return this.#identity.principal;
  }
}

function refused(reason: Reason, message: string): ToolFailure {
  return toolFailure(reason, message);
}
