// Builds what runs of a set of checked tools: what did not change is taken as it was built before.
import type { Connection } from '../../contract/plugin.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import { buildTool, type Executors } from '../build-tool.ts';
import { compileBuilt, type Ready } from '../compile-built.ts';
import type { CheckedTool } from '../spec-rules.ts';
import { anyStale } from './stale-functions.ts';

export interface ToBuild {
  readonly tools: readonly CheckedTool[];
  readonly connections: ReadonlyMap<string, Connection>;
  /** Of the set in force, by name. */
  readonly known: ReadonlyMap<string, Ready>;
}

export interface BuiltSet {
  /** By name; those that failed among them. */
  readonly ready: Map<string, Ready>;
  readonly failed: Problem[];
  /** Dispensable ones that could not be built: they are not among those that are ready. */
  readonly leftOut: Ready[];
}

interface Builders {
  readonly executors: Executors;
  readonly compiler: ToolCompiler;
}

export async function buildSet(
  { tools, connections, known }: ToBuild,
  builders: Builders,
): Promise<BuiltSet> {
  const set: BuiltSet = { ready: new Map(), failed: [], leftOut: [] };
  const pending: Promise<void>[] = [];
  const slices = new Slices();
  for (const checked of tools) {
    await slices.next();
    const { name } = checked.spec;
    const connection = connectionOf(checked, connections);
    const before = known.get(name);
    const isSame = before?.checked === checked && before.connection === connection;
    if (before !== undefined && isSame && !(await anyStale(before.prepared))) set.ready.set(name, before);
    else pending.push(build(checked, connection, builders, set));
  }
  await Promise.all(pending);
  return set;
}

async function build(
  checked: CheckedTool,
  connection: Connection | undefined,
  { executors, compiler }: Builders,
  { ready, failed, leftOut }: BuiltSet,
): Promise<void> {
  const built = compileBuilt(await buildTool(checked, connection, executors), compiler);
  if (built.problem === undefined) ready.set(checked.spec.name, built);
  else if (checked.declaration.dispensable === true) leftOut.push(built);
  else {
    failed.push(built.problem);
    ready.set(checked.spec.name, built);
  }
}

export function connectionOf(
  { connectionName: name }: CheckedTool,
  all: ReadonlyMap<string, Connection>,
): Connection | undefined {
  return name === undefined ? undefined : all.get(name);
}
