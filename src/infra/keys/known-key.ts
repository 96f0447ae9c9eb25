// What the authenticator holds of a key: hashes, until when they are good, and for whom it speaks.
import type { z } from 'zod';
import { BUILT_IN_ROLES, PLATFORM_PERMISSIONS } from '../../contract/call/principal.ts';
import type { KeyRecord } from '../../ports/keys/key-store.ts';
import type { apiKey } from '../../settings/auth-settings.ts';
import { servesOf, type Identity, type Serves } from '../identity/serves.ts';

/** A key as gateway.yaml or the data directory holds it: never the secret itself. Without any tenant it is the platform's. */
export interface StoredKey extends z.output<typeof apiKey> {
  /** The key that the gateway made itself: its `admin` administers the platform although it has a tenant. */
  readonly platform?: boolean;
}

export type Roles = Readonly<Record<string, readonly string[]>>;

export interface KnownKey {
  readonly secret: KnownSecret;
  /** The one from before a rotation. */
  readonly previous?: KnownSecret;
  readonly identity: Identity;
  readonly expiresAt: number;
}

interface KnownSecret {
  readonly hash: Buffer;
  readonly goodUntil: number;
}

/** Those of gateway.yaml. Throws Error when one names a role that is not there, or two share an id. */
export function configuredKeys(keys: readonly StoredKey[], declared: Roles): ReadonlyMap<string, KnownKey> {
  const roles = { ...BUILT_IN_ROLES, ...declared };
  const known = new Map<string, KnownKey>();
  for (const key of keys) {
    if (known.has(key.id)) throw new Error(`auth.keys: two keys have the id ${key.id}`);
    known.set(key.id, configuredKey(key, roles));
  }
  return known;
}

/** Those of the database. A role that was taken out of gateway.yaml since grants nothing. */
export function recordedKeys(keys: readonly KeyRecord[], declared: Roles): ReadonlyMap<string, KnownKey> {
  return new Map(keys.map((key) => [key.id, recordedKey(key, declared)]));
}

/** Who calls with a key of the database. */
export function identityOfRecord(
  key: Pick<KeyRecord, 'id' | 'tenant' | 'tenants' | 'agents' | 'user' | 'roles'>,
  declared: Roles,
): Identity {
  const serves = servedBy(key.tenant, key.tenants);
  const isPlatforms = isOfNoTenant(serves) && key.roles.includes('admin');
  const permissions = permissionsOfRoles(key.roles, declared);
  return {
    serves,
    principal: Object.freeze({
      id: key.id,
      tenantId: serves.kind === 'one' ? serves.tenant : '',
      agents: key.agents,
      ...(key.user !== null && { userId: key.user }),
      roles: key.roles,
      permissions: new Set(isPlatforms ? [...permissions, ...PLATFORM_PERMISSIONS] : permissions),
    }),
  };
}

/** A role that is not declared grants nothing. */
export function permissionsOfRoles(names: readonly string[], declared: Roles): readonly string[] {
  const roles = { ...BUILT_IN_ROLES, ...declared };
  return names.flatMap((role) => permissionsOf(role, roles) ?? []);
}

function servedBy(
  tenant: string | null | undefined,
  tenants: readonly string[] | '*' | null | undefined,
): Serves {
  return tenants ? servesOf(tenants) : { kind: 'one', tenant: tenant ?? '' };
}

/** It administers the platform: no tenant, and no list of them either. */
function isOfNoTenant(serves: Serves): boolean {
  return serves.kind === 'one' && serves.tenant === '';
}

function recordedKey(key: KeyRecord, declared: Roles): KnownKey {
  const { secretSha256, previousSha256, previousExpiresAt, expiresAt } = key;
  return {
    secret: { hash: Buffer.from(secretSha256, 'hex'), goodUntil: Number.POSITIVE_INFINITY },
    ...(previousSha256 !== null && {
      previous: { hash: Buffer.from(previousSha256, 'hex'), goodUntil: previousExpiresAt?.getTime() ?? 0 },
    }),
    identity: identityOfRecord(key, declared),
    expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

function configuredKey(key: StoredKey, roles: Roles): KnownKey {
  const permissions = key.roles.flatMap((role) => {
    const granted = permissionsOf(role, roles);
    if (granted === undefined) {
      throw new Error(
        `auth.keys: key ${key.id} has the role "${role}", which is none of ${Object.keys(roles).join(', ')}`,
      );
    }
    return granted;
  });
  const serves = servedBy(key.tenant, key.tenants);
  const isAdmin = key.roles.includes('admin');
  const isPlatforms = (isOfNoTenant(serves) || key.platform === true) && isAdmin;
  if (isOfNoTenant(serves) && !isAdmin && !key.roles.includes('platform_admin')) {
    throw new Error(
      `auth.keys: key ${key.id} has no tenant, and only a key with the role admin or platform_admin may be without one: say which tenant it is for`,
    );
  }
  return {
    secret: { hash: Buffer.from(key.secret_sha256, 'hex'), goodUntil: Number.POSITIVE_INFINITY },
    expiresAt: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
    identity: {
      serves,
      principal: Object.freeze({
        id: key.id,
        tenantId: serves.kind === 'one' ? serves.tenant : '',
        agents: key.agents,
        userId: key.user,
        roles: key.roles,
        permissions: new Set(isPlatforms ? [...permissions, ...PLATFORM_PERMISSIONS] : permissions),
      }),
    },
  };
}

function permissionsOf(role: string, roles: Roles): readonly string[] | undefined {
  return Object.hasOwn(roles, role) ? roles[role] : undefined;
}
