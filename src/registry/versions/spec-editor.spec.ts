// SpecEditor: nothing is kept that was not judged with all that is in force, and nothing is overwritten that nobody has seen.
import { beforeEach, describe, expect, it } from 'vitest';
import { compiledOf, recordingLog, specOf } from '../../../test/helpers/call-kit.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { Draft, Loader } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { HeadChange, SpecStore, ToolHead, ToolVersion } from '../../ports/registry/spec-store.ts';
import { snapshotOf, ToolSpecRegistry } from '../tool-spec-registry.ts';
import { SpecEditor } from './spec-editor.ts';

const hashOf = (n: number) => String(n).padStart(64, '0');
const edition = (n: number): JsonObject => ({
  description: 'Greets',
  metadata: { version: `${n}.0.0` },
  edition: n,
});
const editionOf = (document: JsonObject) => document['edition'] as number;
const specFor = (name: string, document: JsonObject) =>
  specOf({
    name,
    contentHash: hashOf(editionOf(document)),
    metadata: { version: `${editionOf(document)}.0.0` },
  });

const BY = { by: 'op', note: 'why' };
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ToolFailure ? error.reason : String(error)),
  );

/** The tables in memory, with the two conditions that a commit may make. */
class Tables {
  readonly heads = new Map<string, ToolHead>();
  readonly kept: ToolVersion[] = [];
  readonly commits: HeadChange[] = [];
  generation = 0;

  readonly store: SpecStore = {
    generation: async () => this.generation,
    heads: async () => ({ generation: this.generation, heads: [...this.heads.values()] }),
    head: async (name) => this.heads.get(name),
    commit: async (change) => {
      this.commits.push(change);
      const { name, contentHash, ifRevision, ifGeneration, action, version, by, note } = change;
      const head = this.heads.get(name);
      const revision = head?.revision ?? 0;
      if (ifRevision !== undefined && ifRevision !== revision) return { committed: false, why: 'revision' };
      if (ifGeneration !== undefined && ifGeneration !== this.generation)
        return { committed: false, why: 'generation' };
      const { document, version: called } = version ?? {
        document: head?.document ?? {},
        version: head?.version ?? '',
      };
      if (version !== undefined) this.kept.push({ ...version, createdAt: new Date(0) });
      this.generation += 1;
      this.heads.set(name, {
        name,
        contentHash,
        version: called,
        document,
        enabled: action !== 'disable',
        revision: revision + 1,
        updatedBy: by,
        updatedAt: new Date(0),
        note,
      });
      return { committed: true, revision: revision + 1 };
    },
    record: async () => undefined,
    version: async (name, hash) => this.kept.find((each) => each.name === name && each.contentHash === hash),
    versionCalled: async (name, called) =>
      this.kept.findLast((each) => each.name === name && each.version === called),
    versions: async (name) => this.kept.filter((each) => each.name === name).toReversed(),
    changes: async () => [],
  };
}

let tables: Tables;
let problems: Problem[];
/** Runs while a definition is judged. */
let meanwhile: () => void;
let registry: ToolSpecRegistry;
let editor: SpecEditor;
let reloads: number;

beforeEach(() => {
  tables = new Tables();
  problems = [];
  meanwhile = () => undefined;
  registry = new ToolSpecRegistry();
  reloads = 0;
  editor = editorOver({
    load: () => Promise.reject(new Error('is not loaded here')),
    draft: async (document): Promise<Draft> => {
      const declaration = { value: document, contentHash: '', baseDir: '', locate: () => ({ file: '' }) };
      return {
        loaded: { tools: [], connections: [], problems: [] },
        declaration,
        generation: tables.generation,
      };
    },
  });
});

function editorOver(loader: Loader | undefined): SpecEditor {
  return new SpecEditor({
    store: tables.store,
    loader: () => loader,
    sync: {
      async validateDraft(_loader, { declaration }) {
        const document = declaration.value as JsonObject;
        meanwhile();
        return problems.length > 0 ? { problems } : { spec: specFor(document['name'] as string, document) };
      },
      async reload() {
        reloads += 1;
        const specs = [...tables.heads.values()]
          .filter(({ enabled }) => enabled)
          .map(({ name, document }) => specFor(name, document));
        registry.publish(
          snapshotOf(
            specs,
            specs.flatMap(functionsOf).map((fn) => compiledOf(fn)),
          ),
        );
        return {
          ok: true,
          registryVersion: registry.snapshot().version,
          tools: specs.length,
          lastAttemptAt: '',
          lastSuccessAt: '',
          durationMs: 0,
          problems: [],
          warnings: [],
          leftOut: [],
          advice: [],
          moreAdvice: 0,
        };
      },
    },
    registry,
    log: recordingLog(),
  });
}

describe('a definition that is put', () => {
  it('is kept with the version that it is, and in force when the answer is given', async () => {
    expect(await editor.put('greet', edition(1), BY)).toMatchObject({
      action: 'put',
      contentHash: hashOf(1),
      revision: 1,
      changed: true,
      inForce: true,
    });
    expect(tables.kept).toMatchObject([
      { name: 'greet', version: '1.0.0', createdBy: 'op', note: 'why', source: 'database' },
    ]);
    expect(tables.kept[0]?.document).toMatchObject({ name: 'greet', edition: 1 });
  });

  it('that is in force already changes nothing, and is no new revision', async () => {
    await editor.put('greet', edition(1), BY);
    expect(await editor.put('greet', edition(1), BY)).toMatchObject({
      revision: 1,
      changed: false,
      inForce: true,
    });
    expect(tables.commits).toHaveLength(1);
  });

  it('that does not fit is refused with every problem, and nothing is kept', async () => {
    problems = Array.from({ length: 120 }, (_, at) => ({ file: 'f', tool: 'greet', message: `wrong ${at}` }));
    const refused = await editor.put('greet', edition(1), BY).catch((error: unknown) => error as ToolFailure);
    expect(refused).toMatchObject({ type: 'VALIDATION', reason: 'SPEC_INVALID' });
    expect((refused as ToolFailure).details['problems']).toHaveLength(100);
    expect((refused as ToolFailure).message).toContain('120 problems');
    expect([tables.commits, reloads]).toEqual([[], 0]);
  });

  it('under another name than its own is refused', async () => {
    expect(await reasonOf(editor.put('greet', { ...edition(1), name: 'other' }, BY))).toBe('SPEC_INVALID');
    expect(tables.commits).toEqual([]);
  });

  it('is only checked where nobody asked for more', async () => {
    await editor.put('greet', edition(1), BY);
    expect(await editor.check('greet', edition(2))).toMatchObject({
      contentHash: hashOf(2),
      current: { contentHash: hashOf(1), revision: 1 },
    });
    expect(tables.commits).toHaveLength(1);
  });

  it('cannot be where no loader reads it', async () => {
    const without = editorOver(undefined);
    expect(await reasonOf(without.put('greet', edition(1), BY))).toBe('SPECS_NOT_CONFIGURED');
    expect(await reasonOf(without.disable('greet', BY))).toBe('SPECS_NOT_CONFIGURED');
  });
});

describe('replicas that edit at once', () => {
  it('judge again what was judged beside other tools than there are by now', async () => {
    let others = 2;
    meanwhile = () => {
      if (others > 0) tables.generation += 1;
      others -= 1;
    };
    expect(await editor.put('greet', edition(1), BY)).toMatchObject({ changed: true });
    expect(tables.commits.map(({ ifGeneration }) => ifGeneration)).toEqual([0, 1, 2]);
    expect(tables.heads.get('greet')?.revision).toBe(1);
  });

  it('give up where the others do not rest, and say when to try again', async () => {
    meanwhile = () => (tables.generation += 1);
    const refused = editor.put('greet', edition(1), BY);
    await expect(refused).rejects.toMatchObject({ reason: 'SPECS_BUSY', retryAfterMs: 1_000 });
    expect(tables.heads.size).toBe(0);
  });

  it('never overwrite a revision that the editor has not seen, not even by what is in force already', async () => {
    await editor.put('greet', edition(1), BY);
    await editor.put('greet', edition(2), BY);
    const late = { ...BY, ifRevision: 1 };
    expect(await reasonOf(editor.put('greet', edition(3), late))).toBe('VERSION_CONFLICT');
    expect(await reasonOf(editor.put('greet', edition(2), late))).toBe('VERSION_CONFLICT');
    expect(await reasonOf(editor.disable('greet', late))).toBe('VERSION_CONFLICT');
    expect(tables.heads.get('greet')).toMatchObject({ contentHash: hashOf(2), revision: 2, enabled: true });
  });
});

describe('a version of before', () => {
  it('is in force again by its hash or its name, judged as if it were new', async () => {
    await editor.put('greet', edition(1), BY);
    await editor.put('greet', edition(2), BY);
    expect(await editor.rollback('greet', hashOf(1), BY)).toMatchObject({
      action: 'rollback',
      inForce: true,
      revision: 3,
    });
    expect(await editor.rollback('greet', '2.0.0', BY)).toMatchObject({
      contentHash: hashOf(2),
      revision: 4,
    });
    problems = [{ file: 'f', message: 'does not fit any more' }];
    expect(await reasonOf(editor.rollback('greet', hashOf(1), BY))).toBe('SPEC_INVALID');
    expect(tables.heads.get('greet')?.contentHash).toBe(hashOf(2));
  });

  it('that is not known is not guessed at', async () => {
    await editor.put('greet', edition(1), BY);
    expect(await reasonOf(editor.rollback('greet', hashOf(9), BY))).toBe('VERSION_GONE');
    expect(await reasonOf(editor.versions('nobody', 10))).toBe('SPEC_NOT_FOUND');
  });
});

describe('a tool that is switched off', () => {
  it('is gone when the answer is given, and once is enough', async () => {
    await editor.put('greet', edition(1), BY);
    expect(await editor.disable('greet', BY)).toMatchObject({
      action: 'disable',
      changed: true,
      inForce: true,
      revision: 2,
    });
    expect(registry.snapshot().specs).toEqual([]);
    expect(await editor.disable('greet', BY)).toMatchObject({ changed: false, revision: 2 });
    expect(tables.commits).toHaveLength(2);
    expect(await reasonOf(editor.disable('nobody', BY))).toBe('SPEC_NOT_FOUND');
  });

  it('comes back by what it was, as a change', async () => {
    await editor.put('greet', edition(1), BY);
    await editor.disable('greet', BY);
    expect(await editor.put('greet', edition(1), BY)).toMatchObject({
      changed: true,
      inForce: true,
      revision: 3,
    });
  });
});
