// Spec validation: from what loaders brought to specs that can be trusted, or to every problem with its place. Pure.
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Connection } from '../../contract/plugin.ts';
import { isJsonObject } from '../../contract/json.ts';
import { atOnce } from '../../lib/concurrency/in-slices.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { problemsOfCanaries } from './check-canaries.ts';
import { checkConnections, connectionFault, type ConnectionUse } from './check-connections.ts';
import { problemsOfRoutes } from './routes/check-routes.ts';
import { checkTool } from './check-tool.ts';
import { MOST_FAULTS } from '../../lib/faults/faults.ts';
import { problemOf } from './problem-of.ts';
import type { CheckedTool, SpecRules } from '../spec-rules.ts';
import {
  emptySet,
  newValidationCache,
  type CachedTool,
  type ValidatedSet,
  type ValidationCache,
} from './validation-cache.ts';

export type { CheckedTool, ExtensionRules, SpecRules } from '../spec-rules.ts';

export interface ValidatedTools {
  readonly tools: readonly CheckedTool[];
  readonly connections: ReadonlyMap<string, Connection>;
  /** Not empty: nothing of this load is fit for use. */
  readonly problems: readonly Problem[];
  /** What is wrong with those that are dispensable: they are not among the tools. */
  readonly leftOut: readonly Problem[];
}

/** `validating` in one go. */
export function validateLoaded(
  loaded: readonly LoadedTools[],
  rules: SpecRules,
  cache: ValidationCache = newValidationCache(),
): ValidatedTools {
  return atOnce(validating(loaded, rules, cache));
}

/** What an unchanged declaration was found to be is taken from the cache, as the same object. Yields after each tool. */
export function* validating(
  loaded: readonly LoadedTools[],
  rules: SpecRules,
  cache: ValidationCache,
): Generator<void, ValidatedTools> {
  const found = emptySet();
  const checkedConnections = checkConnections(
    loaded.flatMap(({ connections }) => connections),
    rules,
    (key) => cache.good.connections.get(key) ?? cache.attempt.connections.get(key),
    (key, connection) => found.connections.set(key, connection),
  );
  const problems: Problem[] = [...loaded.flatMap((each) => each.problems), ...checkedConnections.problems];
  const tools: CheckedTool[] = [];
  const leftOut: Problem[] = [];
  const names = new NamesTaken();
  for (const raw of dispensableLast(loaded)) {
    const result = cachedCheck(raw, rules, cache, found);
    const taken = names.take(raw, 'tool' in result ? result.tool.functionNames : []);
    const fault = connectionFault(usesOf(result), checkedConnections, rules);
    const own = [
      ...(taken === undefined ? [] : [taken]),
      ...('problems' in result ? result.problems : []),
      ...(fault === undefined ? [] : [problemOf(raw, nameOf(raw), fault)]),
    ];
    const isLeftOut = raw.dispensable === true && own.length > 0;
    (isLeftOut ? leftOut : problems).push(...own);
    if ('tool' in result && !isLeftOut) tools.push(result.tool.checked);
    yield;
  }
  problems.push(...problemsOfCanaries(tools), ...problemsOfRoutes(tools));
  remember(cache, found, problems.length === 0);
  const { connections } = checkedConnections;
  return { tools, connections, problems: problems.toSorted(byPlace), leftOut: leftOut.toSorted(byPlace) };
}

/** A name that another tool has as well is the other's. */
function dispensableLast(loaded: readonly LoadedTools[]): readonly RawDeclaration[] {
  const all = loaded.flatMap(({ tools }) => tools);
  const last = all.filter(({ dispensable }) => dispensable === true);
  return last.length === 0 ? all : [...all.filter(({ dispensable }) => dispensable !== true), ...last];
}

/** As someone who reads the files from top to bottom meets them. */
function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

type CheckResult =
  | { readonly tool: CachedTool }
  | { readonly problems: readonly Problem[]; readonly uses: ConnectionUse };

function usesOf(result: CheckResult): ConnectionUse {
  if ('problems' in result) return result.uses;
  const { connectionName, spec } = result.tool.checked;
  return { connectionName, toolType: spec.toolType, origin: spec.origin };
}

function cachedCheck(
  raw: RawDeclaration,
  rules: SpecRules,
  cache: ValidationCache,
  found: ValidatedSet,
): CheckResult {
  const known = cache.good.tools.get(raw.contentHash) ?? cache.attempt.tools.get(raw.contentHash);
  if (known?.checked.spec.baseDir === raw.baseDir) return { tool: kept(known, raw, found) };
  const result = checkTool(raw, rules);
  if ('faults' in result) {
    const name = nameOf(raw);
    const { faults, uses = { toolType: '' } } = result;
    return {
      problems: faults.slice(0, MOST_FAULTS).map((fault) => problemOf(raw, name, fault)),
      uses: { ...uses, origin: raw.origin },
    };
  }
  const { checked } = result;
  const earlier = cache.good.byName.get(checked.spec.name);
  const tool = isSame(earlier?.checked.spec, checked.spec) ? earlier : undefined;
  return { tool: kept(tool ?? { checked, functionNames: functionNamesOf(checked) }, raw, found) };
}

/** Only its comments or its layout changed. */
function isSame(earlier: ToolSpec | undefined, spec: ToolSpec): boolean {
  return earlier?.contentHash === spec.contentHash && earlier.baseDir === spec.baseDir;
}

function kept(tool: CachedTool, raw: RawDeclaration, found: ValidatedSet): CachedTool {
  // The tool is the same, but what stands before it may have moved it to another line.
  (tool.checked as { declaration: RawDeclaration }).declaration = raw;
  found.tools.set(raw.contentHash, tool);
  found.byName.set(tool.checked.spec.name, tool);
  return tool;
}

/** A set that is wrong somewhere must not cost the good one its memory: the next load is most likely close to it. */
function remember(cache: ValidationCache, found: ValidatedSet, isGood: boolean): void {
  if (isGood) cache.good = found;
  cache.attempt = isGood ? emptySet() : found;
}

function nameOf({ value }: RawDeclaration): string | undefined {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function functionNamesOf({ spec }: CheckedTool): readonly string[] {
  return spec.actions?.map((action) => `${spec.name}.${action.name}`) ?? [spec.name];
}

/** Names of tools and of what can be called, over all files: each may be taken once. */
class NamesTaken {
  readonly #tools = new Map<string, RawDeclaration>();
  readonly #functions = new Map<string, RawDeclaration>();

  /** Takes the names, or says who has one of them. */
  take(raw: RawDeclaration, functionNames: readonly string[]): Problem | undefined {
    const name = nameOf(raw);
    if (name === undefined) return undefined;
    const holder = this.#holderOf([name, ...functionNames]);
    if (holder !== undefined) return taken(raw, name, holder);
    this.#tools.set(name, raw);
    for (const callable of functionNames) this.#functions.set(callable, raw);
    return undefined;
  }

  #holderOf(names: readonly string[]): Holder | undefined {
    for (const name of names) {
      const by = this.#tools.get(name) ?? this.#functions.get(name);
      if (by !== undefined) return { name, by };
    }
    return undefined;
  }
}

interface Holder {
  readonly name: string;
  readonly by: RawDeclaration;
}

function taken(raw: RawDeclaration, tool: string, { name, by }: Holder): Problem {
  const { file, line } = by.locate(['name']);
  const message = `the name "${name}" is taken already by the tool "${nameOf(by)}" in ${file}:${line ?? 1}`;
  return problemOf(raw, tool, { path: ['name'], message });
}
