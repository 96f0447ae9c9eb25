// What a KeyStore must keep, on both databases: a change is seen by its generation, what is revoked stays so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { SqlKeyStore } from '../../../src/infra/keys/sql-key-store.ts';
import { createApiKey } from '../../../src/lib/secrets/api-key.ts';
import type { KeyStore, NewKey } from '../../../src/ports/keys/key-store.ts';
import { DATABASES } from '../../helpers/databases.ts';

const PLENTY = 1_000;
const LATER = new Date('2100-01-01T00:00:00Z');

function newKey(changes: Partial<NewKey> = {}): NewKey {
  const { id, secretHash } = createApiKey();
  const secretSha256 = secretHash.toString('hex');
  const who = { tenant: 'acme', tenants: null, agents: ['*'], user: null, roles: ['agent'] };
  return { id, name: 'a key', secretSha256, ...who, createdBy: 'op', expiresAt: null, ...changes };
}

describe.each(DATABASES)('KeyStore on %s', (_name, start) => {
  let store: KeyStore;
  let db: Database['db'];
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    const database = await start();
    end = () => database.end();
    ({ db } = await database.database.opened());
    store = new SqlKeyStore(db);
  });

  afterAll(() => end());

  it('gives back what was made', async () => {
    const key = newKey({ tenant: null, agents: ['a', 'b "c"'], user: 'ann', expiresAt: LATER });
    const made = await store.create(key, PLENTY);
    expect(made).toMatchObject({ ...key, previousSha256: null, revokedAt: null });
    expect(await store.get(key.id)).toEqual(made);
    expect(await store.get('nobody00')).toBeUndefined();
  });

  it('every change has another generation, and what changes nothing has not', async () => {
    const key = newKey();
    const seen = [await store.generation()];
    const after = async (change: Promise<unknown>) => {
      const changed = await change;
      seen.push(await store.generation());
      return changed;
    };
    await after(store.create(key, PLENTY));
    await after(store.rotate(key.id, '1'.repeat(64), LATER));
    await after(store.expire(key.id, LATER));
    await after(store.revoke(key.id, 'op'));
    expect(new Set(seen).size).toBe(5);
    expect(await after(store.revoke(key.id, 'op'))).toBeUndefined();
    expect(seen.at(-1)).toBe(seen.at(-2));
  });

  it('a rotation keeps the secret from before, and one of them alone', async () => {
    const key = newKey();
    await store.create(key, PLENTY);
    await store.rotate(key.id, '1'.repeat(64), new Date(0));
    expect(await store.rotate(key.id, '2'.repeat(64), LATER)).toMatchObject({
      secretSha256: '2'.repeat(64),
      previousSha256: '1'.repeat(64),
      previousExpiresAt: LATER,
    });
  });

  it('what is revoked is in force no more, stays in the list, and cannot be brought back', async () => {
    const key = newKey();
    await store.create(key, PLENTY);
    expect(await store.revoke(key.id, 'op')).toMatchObject({ revokedBy: 'op', revokedAt: expect.any(Date) });
    expect((await store.inForce()).keys.map(({ id }) => id)).not.toContain(key.id);
    expect(await store.rotate(key.id, '1'.repeat(64), LATER)).toBeUndefined();
    expect(await store.expire(key.id, null)).toBeUndefined();
    const listed = await store.list({ tenant: 'acme', limit: PLENTY, after: undefined });
    expect(listed.find(({ id }) => id === key.id)).toMatchObject({ revokedBy: 'op' });
  });

  it('lists one tenant by id, page by page', async () => {
    const made = Array.from({ length: 5 }, () => newKey({ tenant: 'paged' }));
    for (const key of made) await store.create(key, PLENTY);
    const ids = made.map(({ id }) => id).toSorted();
    const first = await store.list({ tenant: 'paged', limit: 3, after: undefined });
    const second = await store.list({ tenant: 'paged', limit: 3, after: first.at(-1)?.id });
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids);
  });

  it('gives back for which tenants a key is, and lists it with those of one of them where that is asked', async () => {
    const own = newKey({ tenant: 'shared-1' });
    const both = newKey({ tenant: null, tenants: ['shared-1', 'shared-2'] });
    const any = newKey({ tenant: null, tenants: ['*'] });
    for (const key of [own, both, any]) expect(await store.create(key, PLENTY)).toMatchObject(key);
    const listed = async (tenant: string, andShared?: boolean) => {
      const query = { tenant, limit: PLENTY, after: undefined, ...(andShared && { andShared }) };
      return (await store.list(query)).map(({ id }) => id).toSorted();
    };
    const ids = (...keys: readonly NewKey[]) => keys.map(({ id }) => id).toSorted();
    expect(await listed('shared-1')).toEqual(ids(own));
    expect(await listed('shared-2')).toEqual([]);
    expect(await listed('*')).toEqual([]);
    expect(await listed('shared-1', true)).toEqual(ids(own, both, any));
    expect(await listed('shared-2', true)).toEqual(ids(both, any));
    expect(await listed('shared-3', true)).toEqual(ids(any));
    const { tenants } = (await store.rotate(both.id, '1'.repeat(64), LATER)) ?? {};
    expect(tenants).toEqual(both.tenants);
  });

  it('the generation never falls, also where a key that was revoked is deleted', async () => {
    const key = newKey();
    await store.create(key, PLENTY);
    await store.rotate(key.id, '1'.repeat(64), LATER);
    await store.revoke(key.id, 'op');
    const before = await store.generation();
    const { rows } = await sql`DELETE FROM api_keys WHERE id = ${key.id} RETURNING id`.execute(db);
    expect(rows).toHaveLength(1);
    expect(await store.generation()).toBe(before);
    await store.create(newKey(), PLENTY);
    expect(await store.generation()).toBe(before + 1);
  });

  it('holds no more than it is told, however many come at once; what is revoked does not count', async () => {
    const most = (await store.inForce()).keys.length + 2;
    const made = await Promise.all(Array.from({ length: 6 }, () => store.create(newKey(), most)));
    const [first] = made.filter((key) => key !== undefined);
    expect(made.filter((key) => key !== undefined)).toHaveLength(2);
    await store.revoke(first?.id ?? '', 'op');
    expect(await store.create(newKey(), most)).toBeDefined();
  });
});
