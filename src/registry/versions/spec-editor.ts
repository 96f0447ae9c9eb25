// SpecEditor: changes definitions in the database. Each is judged together with all other tools before it is kept, and
// kept only if none of those has changed meanwhile, so that replicas which edit at once never break the set together.
import { toolFailure } from '../../contract/call/failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { Draft, Loader } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { ReloadStatus } from '../../ports/registry/registry-control.ts';
import type { SpecControl, SpecEdit, SpecOutcome, SpecReport } from '../../ports/registry/spec-control.ts';
import type {
  HeadChange,
  SpecAction,
  SpecChange,
  SpecStore,
  ToolHead,
  ToolVersion,
} from '../../ports/registry/spec-store.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { DraftCheck } from '../reload/registry-sync.ts';

export interface EditorDeps {
  readonly store: SpecStore;
  /** The loader that reads from the store now; undefined where gateway.yaml names none. */
  readonly loader: () => Loader | undefined;
  readonly sync: {
    validateDraft(loader: Loader, draft: Draft): Promise<DraftCheck>;
    reload(): Promise<ReloadStatus>;
  };
  readonly registry: ToolCatalog;
  readonly log: Log;
}

/** How often a definition is judged again because others were changed meanwhile. */
const TRIES = 5;
const HASH = /^[0-9a-f]{64}$/;

export class SpecEditor implements SpecControl {
  readonly #deps: EditorDeps;

  constructor(deps: EditorDeps) {
    this.#deps = deps;
  }

  async list(): Promise<readonly ToolHead[]> {
    return (await this.#deps.store.heads()).heads;
  }

  async get(name: string): Promise<ToolHead> {
    const head = await this.#deps.store.head(name);
    if (head !== undefined) return head;
    throw gone('SPEC_NOT_FOUND', 'There is no definition of this name in the database.');
  }

  async check(name: string, document: JsonObject): Promise<SpecReport & { readonly current?: ToolHead }> {
    const { spec } = await this.#judge(name, document);
    const current = await this.#deps.store.head(name);
    return { ...reportOf(spec), ...(current && { current }) };
  }

  put(name: string, document: JsonObject, edit: SpecEdit): Promise<SpecOutcome> {
    return this.#commit('put', name, document, edit);
  }

  async rollback(name: string, contentHash: string, edit: SpecEdit): Promise<SpecOutcome> {
    const { document } = await this.version(name, contentHash);
    return this.#commit('rollback', name, document, edit);
  }

  async disable(name: string, edit: SpecEdit): Promise<SpecOutcome> {
    this.#loader();
    const { contentHash, version, enabled, revision } = await this.get(name);
    const report = { name, contentHash, version };
    if (!enabled) {
      if (edit.ifRevision !== undefined && edit.ifRevision !== revision) throw conflict();
      return this.#outcome('disable', report, revision, false);
    }
    const committed = await this.#deps.store.commit({ action: 'disable', name, contentHash, ...edit });
    if (!committed.committed) throw conflict();
    return this.#changed('disable', report, committed.revision, edit);
  }

  async versions(name: string, limit: number): Promise<readonly ToolVersion[]> {
    const found = await this.#deps.store.versions(name, limit);
    if (found.length > 0) return found;
    throw gone('SPEC_NOT_FOUND', 'No version of a tool of this name is known.');
  }

  changes(name: string, limit: number): Promise<readonly SpecChange[]> {
    return this.#deps.store.changes(name, limit);
  }

  async version(name: string, wanted: string): Promise<ToolVersion> {
    const { store } = this.#deps;
    const found = await (HASH.test(wanted) ? store.version(name, wanted) : store.versionCalled(name, wanted));
    if (found !== undefined) return found;
    throw gone('VERSION_GONE', 'There is no such version of this tool.');
  }

  async #commit(
    action: 'put' | 'rollback',
    name: string,
    document: JsonObject,
    edit: SpecEdit,
  ): Promise<SpecOutcome> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const { spec, generation } = await this.#judge(name, document);
      const report = reportOf(spec);
      const head = await this.#deps.store.head(name);
      if (head?.enabled === true && head.contentHash === spec.contentHash) {
        if (edit.ifRevision !== undefined && edit.ifRevision !== head.revision) throw conflict();
        return this.#outcome(action, report, head.revision, false);
      }
      const committed = await this.#deps.store.commit(changeOf(action, report, document, edit, generation));
      if (committed.committed) return this.#changed(action, report, committed.revision, edit);
      if (committed.why === 'revision') throw conflict();
    }
    throw new ToolFailure('UNAVAILABLE', 'Other definitions change too fast for this one to be judged.', {
      reason: 'SPECS_BUSY',
      retryAfterMs: 1_000,
    });
  }

  async #judge(name: string, document: JsonObject): Promise<{ spec: ToolSpec; generation: number }> {
    const { sync } = this.#deps;
    const { loader, draft: ask } = this.#loader();
    if (document['name'] !== undefined && document['name'] !== name)
      throw invalid([
        {
          file: `database:${name}`,
          tool: name,
          path: 'name',
          message: `expected "${name}", as in the path of the request`,
        },
      ]);
    const draft = await ask({ name, ...document });
    const checked = await sync.validateDraft(loader, draft);
    if ('problems' in checked) throw invalid(checked.problems);
    return { spec: checked.spec, generation: draft.generation };
  }

  #loader() {
    const loader = this.#deps.loader();
    const draft = loader?.draft?.bind(loader);
    if (loader !== undefined && draft !== undefined) return { loader, draft };
    const message = 'Definitions cannot be changed here: gateway.yaml names no loader of type postgres.';
    throw new ToolFailure('CONFLICT', message, { reason: 'SPECS_NOT_CONFIGURED' });
  }

  /** Others hear of it by the registry's own hint, as of every change. */
  async #changed(
    action: SpecAction,
    report: SpecReport,
    revision: number,
    { by, note }: SpecEdit,
  ): Promise<SpecOutcome> {
    const { name: tool, contentHash, version } = report;
    this.#deps.log.info({ tool, action, contentHash, version, revision, by, note }, 'a tool was changed');
    return this.#outcome(action, report, revision, true);
  }

  async #outcome(
    action: SpecAction,
    report: SpecReport,
    revision: number,
    changed: boolean,
  ): Promise<SpecOutcome> {
    const { registryVersion, problems } = await this.#deps.sync.reload();
    const spec = this.#deps.registry.snapshot().specs.find(({ name }) => name === report.name);
    const inForce = action === 'disable' ? spec === undefined : spec?.contentHash === report.contentHash;
    return { ...report, action, revision, changed, inForce, registryVersion, problems };
  }
}

function changeOf(
  action: 'put' | 'rollback',
  { name, contentHash, version }: SpecReport,
  document: JsonObject,
  edit: SpecEdit,
  ifGeneration: number,
): HeadChange {
  const { by, note } = edit;
  const kept = { name, contentHash, version, document: { name, ...document }, baseDir: '' };
  return {
    ...edit,
    action,
    name,
    contentHash,
    ifGeneration,
    version: { ...kept, source: 'database', createdBy: by, note },
  };
}

function reportOf({ name, contentHash, metadata }: ToolSpec): SpecReport {
  return { name, contentHash, version: metadata.version };
}

/** Of many problems of a set, as many as an answer should hold. */
const MOST_PROBLEMS = 100;

function invalid(problems: readonly Problem[]): ToolFailure {
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ tool, path, message, file, line }) => ({
    ...(tool !== undefined && { tool }),
    ...(path !== undefined && { path }),
    message,
    file,
    ...(line !== undefined && { line }),
  }));
  const count = `${problems.length} problem${problems.length === 1 ? '' : 's'}`;
  return new ToolFailure('VALIDATION', `The definition is not valid: ${count}. Nothing was kept.`, {
    reason: 'SPEC_INVALID',
    details: { problems: shown },
  });
}

function conflict(): ToolFailure {
  const message = 'The definition was changed by somebody else: look at it again.';
  return new ToolFailure('CONFLICT', message, { reason: 'VERSION_CONFLICT' });
}

function gone(reason: 'SPEC_NOT_FOUND' | 'VERSION_GONE', message: string): ToolFailure {
  return toolFailure(reason, message);
}
