// ManagedKeys: nobody reaches keys of another tenant, and nobody grants more than it has.
import { describe, expect, it } from 'vitest';
import { principalOf } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import type { KeyDraft } from '../../ports/keys/key-control.ts';
import type { KeyRecord, KeyStore, NewKey } from '../../ports/keys/key-store.ts';
import { ManagedKeys } from './managed-keys.ts';

const CLERKS = { clerk: ['keys:manage', 'tools:read'] };
const clerk = principalOf({ id: 'clerk', tenantId: 'acme', permissions: new Set(CLERKS.clerk) });
const admin = principalOf({ id: 'admin', tenantId: 'acme', permissions: new Set(['*']) });
const platform = principalOf({ id: 'root', tenantId: '', permissions: new Set(['*', 'platform:admin']) });

const draft = (changes: Partial<KeyDraft> = {}): KeyDraft => ({
  name: 'a key',
  tenant: undefined,
  agents: ['*'],
  user: null,
  roles: ['clerk'],
  expiresAt: null,
  ...changes,
});

/** Keeps what is made; a change counts, and is written nowhere. */
function setUp(kept: readonly Partial<KeyRecord>[] = []) {
  const records = new Map(kept.map((each) => recordOf(each)).map((each) => [each.id, each]));
  const changes: string[] = [];
  const changed = (what: string, id: string) => {
    changes.push(what);
    return Promise.resolve(records.get(id));
  };
  const store: Pick<KeyStore, 'get' | 'create' | 'list' | 'rotate' | 'expire' | 'revoke'> = {
    get: (id) => Promise.resolve(records.get(id)),
    list: ({ tenant }) =>
      Promise.resolve([...records.values()].filter((each) => tenant === undefined || each.tenant === tenant)),
    create: (key) => {
      const record = recordOf(key);
      records.set(key.id, record);
      return changed('create', key.id);
    },
    rotate: (id) => changed('rotate', id),
    expire: (id) => changed('expire', id),
    revoke: (id) => changed('revoke', id),
  };
  const keys = new ManagedKeys({
    store: store as KeyStore,
    roles: () => CLERKS,
    changed: () => Promise.resolve(),
    clock: new FakeClock(1_000),
  });
  return { keys, changes };
}

function recordOf(key: Partial<NewKey> & Partial<KeyRecord>): KeyRecord {
  const { id, secretHash } = createApiKey();
  return {
    id,
    name: 'a key',
    secretSha256: secretHash.toString('hex'),
    tenant: 'acme',
    tenants: null,
    agents: ['*'],
    user: null,
    roles: ['clerk'],
    createdBy: 'somebody',
    createdAt: new Date(0),
    expiresAt: null,
    previousSha256: null,
    previousExpiresAt: null,
    revokedAt: null,
    revokedBy: null,
    ...key,
  };
}

const refusedAs = (reason: string) => expect.objectContaining({ reason });

describe('ManagedKeys', () => {
  it('makes a key for the tenant of whoever asks, whose text is none of what is kept', async () => {
    const { keys } = setUp();
    const { record, text } = await keys.create(clerk, draft());
    expect(record).toMatchObject({ tenant: 'acme', createdBy: 'clerk' });
    expect(JSON.stringify(record)).not.toContain(text.slice(-20));
  });

  it.each([
    ['of more permissions', { roles: ['admin'] }, 'PERMISSION_MISSING'],
    ['of another tenant', { tenant: 'umbrella' }, 'TENANT_MISMATCH'],
    ['of the platform', { tenant: null, roles: ['platform_admin'] }, 'TENANT_MISMATCH'],
    ['of a role that is not there', { roles: ['clark'] }, 'MALFORMED_CALL'],
  ])('makes nobody a key %s', async (_what, changes, reason) => {
    const { keys, changes: made } = setUp();
    await expect(keys.create(clerk, draft(changes))).rejects.toEqual(refusedAs(reason));
    expect(made).toEqual([]);
  });

  it("a tenant's admin makes admins of the tenant, and no administrator of the platform", async () => {
    const { keys } = setUp();
    const role = { roles: ['platform_admin'] };
    await expect(keys.create(admin, draft(role))).rejects.toEqual(refusedAs('PERMISSION_MISSING'));
    expect((await keys.create(admin, draft({ roles: ['admin'] }))).record.roles).toEqual(['admin']);
  });

  it('who may speak for some agents makes no key for others', async () => {
    const { keys } = setUp();
    const narrow = { ...clerk, agents: ['front-desk'] };
    await expect(keys.create(narrow, draft())).rejects.toEqual(refusedAs('AGENT_MISMATCH'));
    expect((await keys.create(narrow, draft({ agents: ['front-desk'] }))).record.agents).toEqual([
      'front-desk',
    ]);
  });

  it.each(['rotate', 'expire', 'revoke'] as const)(
    'to %s a key takes all that the key may do, and its tenant',
    async (change) => {
      const { keys, changes } = setUp([
        { id: 'mine' },
        { id: 'stronger', roles: ['admin'] },
        { id: 'theirs', tenant: 'umbrella' },
        { id: 'gone', revokedAt: new Date(1) },
      ]);
      const asked = (id: string) =>
        change === 'rotate'
          ? keys.rotate(clerk, id, 0)
          : change === 'expire'
            ? keys.expire(clerk, id, null)
            : keys.revoke(clerk, id);
      await expect(asked('stronger')).rejects.toEqual(refusedAs('PERMISSION_MISSING'));
      for (const id of ['theirs', 'gone', 'unheard-of'])
        await expect(asked(id)).rejects.toEqual(refusedAs('KEY_NOT_FOUND'));
      expect(changes).toEqual([]);
      await asked('mine');
      expect(changes).toEqual([change]);
    },
  );

  it("lists a tenant's keys to the tenant, and all of them to the platform alone", async () => {
    const { keys } = setUp([{ id: 'mine' }, { id: 'theirs', tenant: 'umbrella' }]);
    const all = { tenant: undefined, limit: 10, after: undefined };
    expect((await keys.list(clerk, all)).map(({ id }) => id)).toEqual(['mine']);
    expect((await keys.list(platform, all)).map(({ id }) => id)).toEqual(['mine', 'theirs']);
    await expect(keys.list(clerk, { ...all, tenant: 'umbrella' })).rejects.toEqual(
      refusedAs('TENANT_MISMATCH'),
    );
  });

  it('keys of several tenants are made and reached by the platform alone, also where one is its own', async () => {
    const { keys } = setUp([{ id: 'shared', tenant: null, tenants: ['acme', 'umbrella'] }]);
    for (const by of [clerk, admin]) {
      await expect(keys.get(by, 'shared')).rejects.toEqual(refusedAs('KEY_NOT_FOUND'));
      await expect(keys.create(by, draft({ tenants: ['acme', 'umbrella'] }))).rejects.toEqual(
        refusedAs('TENANT_MISMATCH'),
      );
      await expect(keys.create(by, draft({ tenants: ['acme'] }))).rejects.toEqual(
        refusedAs('TENANT_MISMATCH'),
      );
    }
    expect((await keys.get(platform, 'shared')).tenants).toEqual(['acme', 'umbrella']);
    const { record } = await keys.create(platform, draft({ tenants: ['b', 'a', 'b'] }));
    expect([record.tenant, record.tenants]).toEqual([null, ['b', 'a']]);
  });

  it.each([
    ['tenant and tenants', { tenant: 'acme', tenants: ['acme'] }],
    ['no tenant and tenants', { tenant: null, tenants: ['acme'] }],
    ['a star among names', { tenants: ['*', 'acme'] }],
  ])('makes no key of %s', async (_what, wanted) => {
    const { keys, changes } = setUp();
    await expect(keys.create(platform, draft(wanted))).rejects.toEqual(refusedAs('MALFORMED_CALL'));
    expect(changes).toEqual([]);
  });

  it('a key with a role that is not known here is changed by the platform alone', async () => {
    const made = { id: 'payerkey', tenant: 'acme', roles: ['clerk', 'payer'] };
    const { keys, changes } = setUp([made]);
    for (const by of [clerk, admin]) {
      const refused = { reason: 'PERMISSION_MISSING', details: { permission: 'platform:admin' } };
      await expect(keys.rotate(by, 'payerkey', 0)).rejects.toMatchObject(refused);
      await expect(keys.expire(by, 'payerkey', null)).rejects.toMatchObject(refused);
      await expect(keys.revoke(by, 'payerkey')).rejects.toMatchObject(refused);
    }
    expect(changes).toEqual([]);
    await keys.revoke(platform, 'payerkey');
    expect(changes).toEqual(['revoke']);
  });
});
