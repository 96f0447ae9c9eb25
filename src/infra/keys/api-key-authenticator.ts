// ApiKeyAuthenticator: API keys, checked against hashes held in memory. AnonymousAuthenticator: UTE_AUTH=none.
import type { z } from 'zod';
import { toolFailure } from '../../contract/call/failure.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import { PLATFORM_PERMISSIONS, type Credential, type Principal } from '../../contract/call/principal.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { parseApiKey, sameHash } from '../../lib/secrets/api-key.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { apiKey } from '../../settings/settings-schema.ts';

/** A key as gateway.yaml or the data directory holds it: never the secret itself. Without a tenant it is the platform's. */
export interface StoredKey extends z.output<typeof apiKey> {
  /** The key that the gateway made itself: its `admin` administers the platform although it has a tenant. */
  readonly platform?: boolean;
}

export type Roles = Readonly<Record<string, readonly string[]>>;

/** There without being declared; gateway.yaml may redefine them. */
const BUILT_IN_ROLES: Roles = {
  admin: ['*'],
  agent: ['tools:read', 'tools:call'],
  platform_admin: ['*', ...PLATFORM_PERMISSIONS],
};

interface KnownKey {
  readonly secretHash: Buffer;
  readonly principal: Principal;
  readonly expiresAt: number;
}

/** Compared with when the id is unknown, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = Buffer.alloc(32);
const MAX_ACCEPTED = 1_000;

export class ApiKeyAuthenticator implements Authenticator {
  #keys: ReadonlyMap<string, KnownKey>;
  /** Keys that were checked before, by their text: agents call often, and a hash a call adds up. In memory only. */
  readonly #accepted = new Map<string, KnownKey>();
  readonly #clock: Clock;

  /** Throws Error when a key names a role that is not there, or two keys share an id. */
  constructor(keys: readonly StoredKey[], roles: Roles, clock: Clock) {
    this.#clock = clock;
    this.#keys = knownKeys(keys, roles);
  }

  /** From now on these and no others. Throws as the constructor does, and changes nothing then. */
  replace(keys: readonly StoredKey[], roles: Roles): void {
    this.#keys = knownKeys(keys, roles);
    this.#accepted.clear();
  }

  authenticate(credential: Credential): Principal {
    if (credential.kind === 'none')
      throw refused(
        'CREDENTIAL_MISSING',
        'A credential is needed: send an API key as Authorization: Bearer or X-API-Key.',
      );
    const seen = this.#accepted.get(credential.token);
    if (seen !== undefined) return this.#ifNotExpired(seen);
    const shown = parseApiKey(credential.token);
    const known = shown === undefined ? undefined : this.#keys.get(shown.id);
    const matches = sameHash(shown?.secretHash ?? NO_HASH, known?.secretHash ?? NO_HASH);
    if (known === undefined || !matches) throw refused('CREDENTIAL_INVALID', 'The credential is not valid.');
    if (this.#accepted.size >= MAX_ACCEPTED) this.#accepted.clear();
    this.#accepted.set(credential.token, known);
    return this.#ifNotExpired(known);
  }

  recall(principalId: string): Principal {
    const known = this.#keys.get(principalId);
    if (known === undefined)
      throw refused('CREDENTIAL_REVOKED', 'The credential that made the call is not valid any more.');
    return this.#ifNotExpired(known);
  }

  #ifNotExpired({ principal, expiresAt }: KnownKey): Principal {
    if (expiresAt <= this.#clock.wall()) throw refused('CREDENTIAL_EXPIRED', 'The credential has expired.');
    return principal;
  }
}

export class AnonymousAuthenticator implements Authenticator {
  readonly #principal: Principal = {
    id: 'anonymous',
    tenantId: 'default',
    agents: ['*'],
    roles: ['platform_admin'],
    permissions: new Set(['*', ...PLATFORM_PERMISSIONS]),
  };

  authenticate(): Principal {
    return this.#principal;
  }

  recall(): Principal {
    return this.#principal;
  }
}

function knownKeys(keys: readonly StoredKey[], roles: Roles): ReadonlyMap<string, KnownKey> {
  const known = new Map<string, KnownKey>();
  for (const key of keys) {
    if (known.has(key.id)) throw new Error(`auth.keys: two keys have the id ${key.id}`);
    known.set(key.id, knownKey(key, { ...BUILT_IN_ROLES, ...roles }));
  }
  return known;
}

function knownKey(key: StoredKey, roles: Roles): KnownKey {
  const permissions = key.roles.flatMap((role) => {
    const granted = Object.hasOwn(roles, role) ? roles[role] : undefined;
    if (granted === undefined) {
      throw new Error(
        `auth.keys: key ${key.id} has the role "${role}", which is none of ${Object.keys(roles).join(', ')}`,
      );
    }
    return granted;
  });
  const isAdmin = key.roles.includes('admin');
  const isPlatforms = (key.tenant === undefined || key.platform === true) && isAdmin;
  if (key.tenant === undefined && !isAdmin && !key.roles.includes('platform_admin')) {
    throw new Error(
      `auth.keys: key ${key.id} has no tenant, and only a key with the role admin or platform_admin may be without one: say which tenant it is for`,
    );
  }
  return {
    secretHash: Buffer.from(key.secret_sha256, 'hex'),
    expiresAt: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
    principal: Object.freeze({
      id: key.id,
      tenantId: key.tenant ?? '',
      agents: key.agents,
      userId: key.user,
      roles: key.roles,
      permissions: new Set(isPlatforms ? [...permissions, ...PLATFORM_PERMISSIONS] : permissions),
    }),
  };
}

function refused(reason: Reason, message: string): ToolFailure {
  return toolFailure(reason, message);
}
