// What a SessionStore must keep, on both databases: whose a session is, when it is over, which turn it is in, with which tools.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { applyRetention } from '../../../src/infra/maintenance/retention.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { SqlSessionStore } from '../../../src/infra/sessions/sql-session-store.ts';
import { uuidv7 } from '../../../src/lib/ids.ts';
import type { NewSession, SessionStore } from '../../../src/ports/sessions/session-store.ts';
import { DATABASES } from '../../helpers/databases.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

/** So many that a session far below waits for nobody. */
const PLENTY = 5_000;
const HOUR_MS = 3_600_000;
const TOOLS = new Map([
  ['echo', 'a'.repeat(64)],
  ['odd "name"', 'b'.repeat(64)],
]);
const ALL = {
  principalId: undefined,
  agentId: undefined,
  userId: undefined,
  active: false,
  before: undefined,
};

function newSession(changes: Partial<NewSession> = {}): NewSession {
  return {
    id: `ses_${uuidv7(Date.now())}`,
    tenantId: 'acme',
    principalId: 'key00001',
    agentId: 'front-desk',
    userId: 'ann',
    mode: 'voice',
    registryVersion: '1.0.abc123de',
    registryHash: 'c'.repeat(64),
    idleMs: HOUR_MS,
    maxAgeMs: 24 * HOUR_MS,
    ...changes,
  };
}

describe.each(DATABASES)('SessionStore on %s', (_name, start) => {
  let database: Database;
  let store: SessionStore;
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    const started = await start();
    end = () => started.end();
    database = await started.database.opened();
    store = new SqlSessionStore(database.db);
  });

  afterAll(() => end());

  async function made(changes: Partial<NewSession> = {}) {
    const record = await store.create(newSession(changes), TOOLS, PLENTY);
    if (record === undefined) throw new Error('it was refused');
    return record;
  }

  const found = async (id: string) => (await store.find([id]))[0];
  const age = (id: string, ms: number) =>
    sql`UPDATE sessions SET over_at = over_at - ${ms}::float8 * interval '1 millisecond', last_used_at = last_used_at -
      ${ms}::float8 * interval '1 millisecond' WHERE id = ${id}`.execute(database.db);

  it('gives back what was declared, in its first turn, over after the shorter of both times', async () => {
    const { maxAgeMs: _age, ...session } = newSession({
      userId: '',
      mode: null,
      idleMs: 2 * HOUR_MS,
      maxAgeMs: HOUR_MS,
    });
    const record = await store.create({ ...session, maxAgeMs: HOUR_MS }, TOOLS, PLENTY);
    expect(record).toMatchObject({ ...session, turn: 1, endedAt: null, endedBy: null });
    expect(record?.overAt).toEqual(record?.expiresAt);
    expect(record?.leftMs).toBeGreaterThan(0);
    expect(record?.leftMs).toBeLessThanOrEqual(HOUR_MS);
    expect(await found(session.id)).toMatchObject({ ...session, turn: 1 });
    expect(await store.find(['ses_none'])).toEqual([]);
  });

  it('ends once: who ends it again finds the first end, and nobody else’s tenant can', async () => {
    const { id } = await made();
    expect(await store.end('umbrella', id, 'thief')).toBeUndefined();
    expect(await store.end('acme', id, 'first')).toMatchObject({
      endedBy: 'first',
      endedAt: expect.any(Date),
    });
    expect(await store.end('acme', id, 'second')).toMatchObject({ endedBy: 'first' });
    expect((await found(id))?.leftMs).toBeLessThanOrEqual(0);
  });

  it('begins turns one after the other, and none of one that is over, or of another tenant’s', async () => {
    const { id } = await made();
    const begun = await Promise.all([1, 2, 3].map(() => store.nextTurn('acme', id)));
    expect(begun.map((record) => record?.turn).toSorted((a = 0, b = 0) => a - b)).toEqual([2, 3, 4]);
    expect(await store.nextTurn('umbrella', id)).toBeUndefined();
    await age(id, 2 * HOUR_MS);
    expect(await store.nextTurn('acme', id)).toBeUndefined();
    const { id: other } = await made();
    await store.end('acme', other, 'me');
    expect(await store.nextTurn('acme', other)).toBeUndefined();
  });

  it('a use moves the end, never beyond its age, never back, and never of one that was over', async () => {
    const [used, over] = [await made(), await made()];
    await age(used.id, HOUR_MS / 2);
    await age(over.id, 2 * HOUR_MS);
    await store.touch([
      { id: used.id, agoMs: 60_000 },
      { id: over.id, agoMs: 0 },
      { id: 'ses_none', agoMs: 0 },
    ]);
    const left = (await found(used.id))?.leftMs ?? 0;
    expect(left).toBeGreaterThan(HOUR_MS - 120_000);
    expect(left).toBeLessThanOrEqual(HOUR_MS - 60_000);
    expect((await found(over.id))?.leftMs).toBeLessThan(0);
    await store.touch([{ id: used.id, agoMs: HOUR_MS / 2 }]);
    expect((await found(used.id))?.leftMs).toBeGreaterThan(HOUR_MS - 120_000);
    const short = await made({ maxAgeMs: 1_000 });
    await store.touch([{ id: short.id, agoMs: 0 }]);
    expect((await found(short.id))?.overAt).toEqual(short.expiresAt);
  });

  it('has as many of a tenant that are not over as it may, whoever comes at once', async () => {
    const tenantId = 'crowded';
    const make = () => store.create(newSession({ tenantId }), TOOLS, 3);
    const all = await Promise.all(Array.from({ length: 6 }, make));
    const kept = all.flatMap((record) => record ?? []);
    expect(kept).toHaveLength(3);
    await store.end(tenantId, kept[0]?.id ?? '', 'me');
    expect(await make()).toBeDefined();
    expect(await make()).toBeUndefined();
  });

  it('has no more than it may where the cap is large, whoever comes at once', async () => {
    const most = 1_500;
    await sql`INSERT INTO sessions (id, tenant_id, principal_id, agent_id, user_id, registry_version, registry_hash, idle_ms, expires_at,
        over_at)
      SELECT 'ses_filled_' || n, 'full', 'k', '', '', '1', 'x', 1, now() + interval '1 hour', now() + interval '1 hour'
      FROM generate_series(1, ${most - 6}::int) AS n`.execute(database.db);
    const all = await Promise.all(
      Array.from({ length: 15 }, () => store.create(newSession({ tenantId: 'full' }), TOOLS, most)),
    );
    expect(all.filter((record) => record !== undefined)).toHaveLength(6);
  });

  it('far below its cap, a session is begun beside others that are being begun, and waits for none of them', async () => {
    await made();
    await database.db.transaction().execute(async (trx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended('sessions of acme', 0))`.execute(trx);
      await sql`SELECT FROM session_registries FOR UPDATE`.execute(trx);
      expect(await made()).toMatchObject({ turn: 1 });
    });
  });

  it('lists a tenant, newest first, page by page, by who declared it, for whom, and what is not over', async () => {
    const tenantId = 'paged';
    const all = [];
    for (const userId of ['ann', 'bob', 'ann', 'cid'])
      all.push(await made({ tenantId, userId, principalId: userId === 'cid' ? 'other' : 'key00001' }));
    const ids = all.map(({ id }) => id).toReversed();
    const listed = async (query: object) =>
      (await store.list(tenantId, { ...ALL, limit: 10, ...query })).map(({ id }) => id);
    expect(await listed({})).toEqual(ids);
    expect(await listed({ limit: 2 })).toEqual(ids.slice(0, 2));
    expect(await listed({ before: ids[1] })).toEqual(ids.slice(2));
    expect(await listed({ principalId: 'other' })).toEqual([ids[0]]);
    expect(await listed({ userId: 'ann' })).toEqual([ids[1], ids[3]]);
    await store.end(tenantId, ids[0] ?? '', 'me');
    expect(await listed({ active: true })).toEqual(ids.slice(1));
  });

  it('keeps the set of tools once for all of its sessions', async () => {
    await Promise.all([made(), made()]);
    expect(await store.toolsOf('c'.repeat(64))).toEqual(TOOLS);
    expect(await store.toolsOf('d'.repeat(64))).toBeUndefined();
  });

  it('takes any text for a name', async () => {
    const odd = { agentId: "'; DROP TABLE sessions; --", userId: 'a\0b\ud800', tenantId: 'acme' };
    const { id } = await made(odd);
    expect(await found(id)).toMatchObject({ agentId: odd.agentId, userId: 'a\u{fffd}b\u{fffd}' });
  });

  it('what is over is deleted by the retention, and its tools once no session has them', async () => {
    const registryHash = 'e'.repeat(64);
    const [over, going] = [await made({ registryHash }), await made({ registryHash })];
    await age(over.id, 3 * HOUR_MS);
    await sql`UPDATE session_registries SET needed_at = now() - interval '2 days'`.execute(database.db);
    const forever = Number.POSITIVE_INFINITY;
    const others = {
      calls: forever,
      callEvents: forever,
      audit: forever,
      approvals: forever,
      revokedKeys: forever,
    };
    const clean = () =>
      applyRetention(
        database,
        { ...others, sessions: HOUR_MS },
        { clock: new FakeClock(), withinMs: 60_000, signal: new AbortController().signal },
      );
    await clean();
    expect(await found(over.id)).toBeUndefined();
    expect(await store.toolsOf(registryHash)).toEqual(TOOLS);
    await age(going.id, 3 * HOUR_MS);
    await clean();
    await clean();
    expect(await store.toolsOf(registryHash)).toBeUndefined();
  });
});
