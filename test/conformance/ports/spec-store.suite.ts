// What every SpecStore must keep, whatever database is below.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { HeadChange, NewToolVersion, SpecStore } from '../../../src/ports/registry/spec-store.ts';
import { canonicalHash } from '../../../src/lib/json/canonical-json.ts';

export interface SpecHarness {
  readonly store: SpecStore;
  end(): Promise<void>;
}

/** Versions of one tool that a store of the suite keeps. */
export const MOST_VERSIONS = 30;

export function describeSpecStore(name: string, start: () => Promise<SpecHarness>): void {
  describe(`SpecStore on ${name}`, () => {
    let harness: SpecHarness;
    let store: SpecStore;

    beforeAll(async () => {
      harness = await start();
      ({ store } = harness);
    });
    afterAll(() => harness.end());

    const newName = () => `tool_${randomUUID()}`;
    const versionOf = (tool: string, edition: number, over: Partial<NewToolVersion> = {}): NewToolVersion => {
      const document = { name: tool, description: `edition ${edition}`, tool_type: 'composite' };
      return {
        name: tool,
        contentHash: canonicalHash(document),
        version: `${edition}.0.0`,
        document,
        source: 'database',
        baseDir: '',
        createdBy: 'key1',
        note: '',
        ...over,
      };
    };
    const putOf = (version: NewToolVersion, over: Partial<HeadChange> = {}): HeadChange => ({
      action: 'put',
      name: version.name,
      contentHash: version.contentHash,
      by: 'key1',
      note: 'because',
      version,
      ...over,
    });

    it('gives a definition back as it was written, the order of its keys included', async () => {
      const tool = newName();
      const document = {
        zeta: 1,
        name: tool,
        alpha: { b: [], a: null },
        text: 'NUL \0, a lone half \ud800, “”',
      };
      await store.commit(putOf(versionOf(tool, 1, { document })));
      const head = await store.head(tool);
      expect(JSON.stringify(head?.document)).toBe(JSON.stringify(document));
      expect(head).toMatchObject({
        enabled: true,
        revision: 1,
        version: '1.0.0',
        updatedBy: 'key1',
        note: 'because',
      });
      expect(head?.updatedAt).toBeInstanceOf(Date);
    });

    it('counts revisions of a head and the generation of all', async () => {
      const tool = newName();
      const before = await store.generation();
      expect(await store.commit(putOf(versionOf(tool, 1)))).toEqual({ committed: true, revision: 1 });
      expect(await store.commit(putOf(versionOf(tool, 2)))).toEqual({ committed: true, revision: 2 });
      const disabled = putOf(versionOf(tool, 2), { action: 'disable', version: undefined });
      expect(await store.commit(disabled)).toEqual({ committed: true, revision: 3 });
      expect(await store.generation()).toBe(before + 3);
      const { generation, heads } = await store.heads();
      expect(generation).toBe(before + 3);
      expect(heads.find(({ name: each }) => each === tool)).toMatchObject({ enabled: false, revision: 3 });
      expect(heads.map(({ name: each }) => each)).toEqual(heads.map(({ name: each }) => each).toSorted());
    });

    it('of many changes meant for one revision, one is made', async () => {
      const tool = newName();
      await store.commit(putOf(versionOf(tool, 1)));
      const changes = Array.from({ length: 8 }, (_, at) => putOf(versionOf(tool, at + 2), { ifRevision: 1 }));
      const outcomes = await Promise.all(changes.map((change) => store.commit(change)));
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1);
      expect(outcomes.filter((each) => !each.committed && each.why === 'revision')).toHaveLength(7);
      expect(await store.head(tool)).toMatchObject({ revision: 2 });
      expect(await store.versions(tool, 100)).toHaveLength(2);
    });

    it('of many changes judged on one generation, one is made, whichever tools they are for', async () => {
      const ifGeneration = await store.generation();
      const changes = Array.from({ length: 6 }, () => putOf(versionOf(newName(), 1), { ifGeneration }));
      const outcomes = await Promise.all(changes.map((change) => store.commit(change)));
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1);
      expect(outcomes.filter((each) => !each.committed && each.why === 'generation')).toHaveLength(5);
    });

    it('a change for revision 0 is made only where there is no such tool, or no more', async () => {
      const tool = newName();
      expect(await store.commit(putOf(versionOf(tool, 1), { ifRevision: 0 }))).toMatchObject({
        committed: true,
      });
      expect(await store.commit(putOf(versionOf(tool, 2), { ifRevision: 0 }))).toEqual({
        committed: false,
        why: 'revision',
      });
      await store.commit(putOf(versionOf(tool, 1), { action: 'disable', version: undefined }));
      expect(await store.commit(putOf(versionOf(tool, 2), { ifRevision: 0 }))).toMatchObject({
        committed: true,
      });
    });

    it('a version never changes: the same hash again keeps what was there', async () => {
      const tool = newName();
      await store.commit(putOf(versionOf(tool, 1)));
      const again = versionOf(tool, 1, { note: 'another', createdBy: 'key2', source: 'loader' });
      await store.record([again]);
      await store.commit(putOf(again));
      const found = await store.version(tool, again.contentHash);
      expect(found).toMatchObject({ note: '', createdBy: 'key1', source: 'database' });
      expect(await store.changes(tool, 10)).toMatchObject([
        { revision: 2, action: 'put', by: 'key1', note: 'because' },
        { revision: 1, action: 'put' },
      ]);
    });

    it('finds versions by hash and by name, and gives the newest first', async () => {
      const tool = newName();
      const versions = [1, 2, 3].map((edition) =>
        versionOf(tool, edition, { source: 'loader', baseDir: '/tools' }),
      );
      for (const version of versions) await store.record([version]);
      expect((await store.versions(tool, 2)).map(({ version }) => version)).toEqual(['3.0.0', '2.0.0']);
      expect(await store.versionCalled(tool, '1.0.0')).toMatchObject({
        contentHash: versions[0]?.contentHash,
        baseDir: '/tools',
      });
      expect(await store.version(tool, 'f'.repeat(64))).toBeUndefined();
      expect(await store.versionCalled(`${tool}x`, '1.0.0')).toBeUndefined();
      expect(await store.head(tool)).toBeUndefined();
    });

    it('several replicas may record the same at once', async () => {
      const versions = Array.from({ length: 150 }, () => versionOf(newName(), 1, { source: 'loader' }));
      await Promise.all([
        store.record(versions),
        store.record(versions.toReversed()),
        store.record(versions),
      ]);
      for (const { name: tool } of versions.slice(0, 5))
        expect(await store.versions(tool, 5)).toHaveLength(1);
    });

    it('keeps a bounded number of versions, and always the one in force', async () => {
      const tool = newName();
      await store.commit(putOf(versionOf(tool, 0)));
      const many = Array.from({ length: MOST_VERSIONS + 20 }, (_, at) =>
        versionOf(tool, at + 1, { source: 'loader' }),
      );
      for (let at = 0; at < many.length; at += 10) await store.record(many.slice(at, at + 10));
      const kept = await store.versions(tool, 2 * MOST_VERSIONS);
      expect(kept).toHaveLength(MOST_VERSIONS + 1);
      expect(await store.head(tool)).toMatchObject({ version: '0.0.0' });
    });

    it('hostile text in who and why is kept as text', async () => {
      const tool = newName();
      const note = `'); DROP TABLE tool_heads; -- \0 \ud800`;
      await store.commit(putOf(versionOf(tool, 1), { note, by: note }));
      expect((await store.head(tool))?.note).toContain('DROP TABLE');
      expect(await store.head(note)).toBeUndefined();
    });
  });
}
