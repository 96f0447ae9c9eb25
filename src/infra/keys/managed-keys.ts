// ManagedKeys: KeyControl over the database. What may be granted is decided here, for every way to ask.
import { toolFailure } from '../../contract/call/failure.ts';
import { holds, unknownRole, type Principal } from '../../contract/call/principal.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyControl, KeyDraft, KeyState, MadeKey } from '../../ports/keys/key-control.ts';
import type { KeyQuery, KeyRecord, KeyStore } from '../../ports/keys/key-store.ts';
import { ANY, isTenantName } from '../identity/serves.ts';
import { identityOfRecord, type Roles } from './known-key.ts';

export interface ManagedKeysNeeds {
  readonly store: KeyStore;
  /** As gateway.yaml declares them now. */
  readonly roles: () => Roles;
  /** Makes a change be in force here. Never rejects. */
  readonly changed: () => Promise<void>;
  readonly clock: Pick<Clock, 'wall'>;
}

/** Every replica holds all of them in memory. */
const MOST_KEYS = 10_000;
/** Who holds it reaches the keys of every tenant. */
const PLATFORM = 'platform:admin';

export class ManagedKeys implements KeyControl {
  readonly #needs: ManagedKeysNeeds;

  constructor(needs: ManagedKeysNeeds) {
    this.#needs = needs;
  }

  stateOf({ revokedAt, expiresAt }: KeyRecord): KeyState {
    if (revokedAt !== null) return 'revoked';
    return expiresAt !== null && expiresAt.getTime() <= this.#needs.clock.wall() ? 'expired' : 'active';
  }

  async list(by: Principal, query: KeyQuery): Promise<readonly KeyRecord[]> {
    const tenant = holds(by, PLATFORM) ? query.tenant : (query.tenant ?? by.tenantId);
    if (tenant !== undefined) reach(by, { tenant, tenants: null });
    const andShared = tenant !== undefined && holds(by, PLATFORM);
    return this.#needs.store.list({ ...query, tenant, andShared });
  }

  async get(by: Principal, id: string): Promise<KeyRecord> {
    const record = await this.#needs.store.get(id);
    if (record === undefined || !reaches(by, record)) throw notFound();
    return record;
  }

  async create(by: Principal, draft: KeyDraft): Promise<MadeKey> {
    const { store, roles } = this.#needs;
    const whose = whoseKey(by, draft);
    reach(by, whose);
    requireRoles(draft.roles, whose, roles());
    const { id, secretHash, text } = createApiKey();
    const key = { ...draft, ...whose, id, secretSha256: secretHash.toString('hex'), createdBy: by.id };
    this.#grant(by, key);
    const record = await store.create(key, MOST_KEYS);
    if (record === undefined)
      throw toolFailure(
        'KEYS_FULL',
        `There are ${MOST_KEYS} API keys already: revoke those that nobody uses.`,
      );
    await this.#needs.changed();
    return { record, text };
  }

  async rotate(by: Principal, id: string, keepMs: number): Promise<MadeKey> {
    await this.#changeable(by, id);
    const { secretHash, text } = createApiKey(id);
    const until = new Date(this.#needs.clock.wall() + keepMs);
    const record = await this.#done(this.#needs.store.rotate(id, secretHash.toString('hex'), until));
    return { record, text };
  }

  async expire(by: Principal, id: string, at: Date | null): Promise<KeyRecord> {
    await this.#changeable(by, id);
    return this.#done(this.#needs.store.expire(id, at));
  }

  async revoke(by: Principal, id: string): Promise<KeyRecord> {
    await this.#changeable(by, id);
    return this.#done(this.#needs.store.revoke(id, by.id));
  }

  /** Whoever has a new secret of a key, or lets it live longer, has what it may do. */
  async #changeable(by: Principal, id: string): Promise<void> {
    const record = await this.get(by, id);
    if (record.revokedAt !== null) throw notFound();
    this.#grant(by, record);
  }

  async #done(change: Promise<KeyRecord | undefined>): Promise<KeyRecord> {
    const record = await change;
    if (record === undefined) throw notFound();
    await this.#needs.changed();
    return record;
  }

  /** Throws ToolFailure PERMISSION_DENIED where the key may do more than whoever asks. */
  #grant(by: Principal, key: Parameters<typeof identityOfRecord>[0]): void {
    const roles = this.#needs.roles();
    const unknown = unknownRole(key.roles, roles);
    // What it allows is not known here, and may be known on another replica, or again tomorrow.
    if (unknown !== undefined && !holds(by, PLATFORM))
      throw toolFailure(
        'PERMISSION_MISSING',
        `The key has the role "${unknown}", which this gateway does not know: only the permission ${PLATFORM} is enough for it.`,
        { details: { permission: PLATFORM } },
      );
    const { principal } = identityOfRecord(key, roles);
    const permission = [...principal.permissions].find((each) => !holds(by, each));
    if (permission !== undefined)
      throw toolFailure(
        'PERMISSION_MISSING',
        `The key holds the permission ${permission}, and the credential that asks does not: nobody grants more than it has.`,
        { details: { permission } },
      );
    if (!by.agents.includes('*') && !key.agents.every((agent) => by.agents.includes(agent)))
      throw toolFailure(
        'AGENT_MISMATCH',
        `The key may speak for agents that the credential that asks may not speak for: ${by.agents.join(', ')} are those.`,
        { details: { field: 'agents' } },
      );
  }
}

type Whose = Pick<KeyRecord, 'tenant' | 'tenants'>;

function whoseKey(by: Principal, { tenant, tenants }: KeyDraft): Whose {
  if (tenants === undefined)
    return { tenant: tenant ?? (tenant === null ? null : ownTenant(by)), tenants: null };
  if (tenant !== undefined)
    throw malformed('tenants', 'A key is of one tenant or of several: give tenant or tenants.');
  if (tenants.join() !== ANY && !tenants.every(isTenantName))
    throw malformed('tenants', 'Each must be the name of a tenant; "*" alone stands for any.');
  return { tenant: null, tenants: [...new Set(tenants)] };
}

function ownTenant({ tenantId }: Principal): string | null {
  return tenantId === '' ? null : tenantId;
}

/** What serves several tenants is none of theirs: it would tell each of the others. */
function reaches(by: Principal, { tenant, tenants }: Whose): boolean {
  return holds(by, PLATFORM) || (tenants === null && tenant !== null && tenant === by.tenantId);
}

function reach(by: Principal, whose: Whose): void {
  if (reaches(by, whose)) return;
  throw toolFailure(
    'TENANT_MISMATCH',
    `Keys of another tenant, of several, and of the platform, need the permission ${PLATFORM}: the role platform_admin has it.`,
    { details: { field: 'tenant' } },
  );
}

function requireRoles(roles: readonly string[], { tenant, tenants }: Whose, declared: Roles): void {
  const unknown = unknownRole(roles, declared);
  if (unknown !== undefined)
    throw malformed(
      'roles',
      `There is no role "${unknown}": it is none of admin, agent, platform_admin and auth.roles.`,
    );
  if (tenant === null && tenants === null && !roles.includes('admin') && !roles.includes('platform_admin'))
    throw malformed('tenant', 'Only a key with the role admin or platform_admin may be without a tenant.');
}

function malformed(field: string, message: string): ToolFailure {
  return toolFailure('MALFORMED_CALL', message, { details: { field } });
}

/** The same for a key of another tenant: nobody learns which ids there are. */
function notFound(): ToolFailure {
  return toolFailure('KEY_NOT_FOUND', 'There is no API key of this id that could be changed or shown.');
}
