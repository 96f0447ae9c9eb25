// What an AssignmentStore must keep, on both databases: one of each, revisions that never come again, walls between tenants.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqlAssignmentStore } from '../../../src/infra/assignments/sql-assignment-store.ts';
import type {
  AssignmentDraft,
  AssignmentRecord,
  AssignmentStore,
} from '../../../src/ports/assignments/assignment-store.ts';
import { DATABASES } from '../../helpers/databases.ts';

const PLENTY = { perTenant: 1_000, inAll: 1_000 };

describe.each(DATABASES)('AssignmentStore on %s', (_name, start) => {
  let store: AssignmentStore;
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    const database = await start();
    end = () => database.end();
    store = new SqlAssignmentStore((await database.database.opened()).db);
  });

  afterAll(() => end());

  const draftOf = (changes: Partial<AssignmentDraft> = {}): AssignmentDraft => ({
    tenantId: 'acme',
    tool: 'mail',
    kind: 'agent',
    subject: 'desk',
    contentHash: 'a'.repeat(64),
    version: '1.0.0',
    reason: 'tested "so"\0',
    assignedBy: 'op',
    ...changes,
  });

  async function put(changes: Partial<AssignmentDraft> = {}, ifRevision?: number): Promise<AssignmentRecord> {
    const record = await store.put(draftOf(changes), PLENTY, ifRevision);
    if (typeof record === 'string') throw new Error(record);
    return record;
  }

  it('keeps one for each tool and subject, to its own tenant alone, and tells replicas of each change', async () => {
    const before = await store.generation();
    const first = await put();
    expect(first).toMatchObject({ ...draftOf(), reason: 'tested "so"\u{fffd}' });
    expect(await store.get(draftOf())).toEqual(first);
    for (const other of [{ tenantId: 'umbrella' }, { kind: 'user' as const }, { tool: 'sms' }])
      expect(await store.get(draftOf(other))).toBeUndefined();
    const second = await put({ contentHash: 'b'.repeat(64), version: '2.0.0' });
    expect(second.revision).toBeGreaterThan(first.revision);
    const { generation, assignments } = await store.inForce();
    expect(generation).toBeGreaterThan(before + 1);
    const { tenantId, tool, kind, subject, contentHash } = second;
    expect(assignments).toEqual([{ tenantId, tool, kind, subject, contentHash }]);
    expect(await store.delete(draftOf(), undefined)).toEqual(second);
    expect((await put()).revision).toBeGreaterThan(second.revision);
  });

  it('changes the revision that was meant and no other, and what does not happen takes no generation', async () => {
    const { revision } = await put({ subject: 'clerk' });
    const before = await store.generation();
    const changed = draftOf({ subject: 'clerk' });
    expect(await store.put(changed, PLENTY, revision + 1)).toBe('conflict');
    expect(await store.put(changed, PLENTY, 0)).toBe('conflict');
    expect(await store.delete(changed, revision + 1)).toBe('conflict');
    expect(await store.delete(draftOf({ subject: 'nobody' }), undefined)).toBe('missing');
    const bounded = (bounds: typeof PLENTY) => store.put(draftOf({ subject: 'new' }), bounds, undefined);
    expect(await bounded({ perTenant: 1, inAll: 1_000 })).toBe('full');
    expect(await bounded({ perTenant: 1_000, inAll: 1 })).toBe('full');
    expect(await store.generation()).toBe(before);
    expect((await put({ subject: 'clerk' }, revision)).revision).toBe(before + 1);
  });

  it('lists newest first, page after page, of one tool, and to an agent its own alone', async () => {
    const made: AssignmentRecord[] = [];
    for (const [kind, subject] of [
      ['user', 'ann'],
      ['agent', 'a'],
      ['tenant', 'lister'],
      ['agent', 'b'],
    ] as const)
      made.push(await put({ tenantId: 'lister', kind, subject }));
    const query = { tenantId: 'lister', limit: 3, before: undefined, tool: 'mail', agents: undefined };
    const page = await store.list(query);
    expect(page).toEqual(made.toReversed().slice(0, 3));
    expect(await store.list({ ...query, before: page.at(-1)?.revision })).toEqual([made[0]]);
    expect(await store.list({ ...query, tool: 'sms' })).toEqual([]);
    expect((await store.list({ ...query, agents: ['b', 'ann'] })).map(({ subject }) => subject)).toEqual([
      'b',
    ]);
  });
});
