// Builds what runs of one checked tool: its functions, each prepared by its executor. For tools in force, drafts and versions not in force alike.
import type { Problem } from '../contract/tool/loaded-tools.ts';
import type { Connection, Executor, PreparedFunction } from '../contract/plugin.ts';
import { functionsOf, overConnection, type ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolSpec } from '../contract/tool/tool-spec.ts';
import { secretScrubber } from '../lib/secrets/scrub-secrets.ts';
import { identify } from './identify.ts';
import type { CheckedTool } from './spec-rules.ts';

export type Executors = ReadonlyMap<string, Executor<unknown>>;

/** Everything built for one declaration; kept as long as the declaration and its connection stay as they are. */
export interface Built {
  readonly checked: CheckedTool;
  readonly connection: Connection | undefined;
  readonly functions: readonly ToolFunction[];
  /** Of the functions with the same index; fewer of them where one could not be prepared. */
  readonly prepared: readonly PreparedFunction[];
  readonly problem?: Problem;
}

/** Of a tool in quarantine: the core refuses its calls before they come here. */
const NEVER_CALLED: PreparedFunction = {
  execute: async () => {
    throw new Error('a tool in quarantine was called');
  },
};

/** `spec` may differ from the checked one in what it asks of callers. Never rejects for what a tool holds. */
export async function buildTool(
  checked: CheckedTool,
  connection: Connection | undefined,
  executors: Executors,
  spec: ToolSpec = checked.spec,
): Promise<Built> {
  const executor = executors.get(spec.toolType);
  if (executor === undefined) throw new Error(`no executor ${spec.toolType}`);
  const limit = connection?.concurrency;
  const prepared: PreparedFunction[] = [];
  const plain = limit === undefined ? functionsOf(spec) : overConnection(functionsOf(spec), limit);
  const functions = identify(plain, (index) => prepared[index], connection);
  const built = { checked, connection, functions, prepared };
  try {
    // The legacy form comes last and runs nothing of its own.
    for (const fn of functions.filter(({ byAction }) => byAction === undefined)) {
      // Nothing is asked of a server about a tool that may not run.
      const isOff = spec.foreign?.quarantine !== undefined;
      const target = { function: fn, options: checked.options, connection };
      prepared.push(isOff ? NEVER_CALLED : await executor.prepare(target));
    }
    return built;
  } catch (error) {
    const path = 'implementation_config';
    const place = checked.declaration.locate([path]);
    // It may quote the connection's settings.
    const message = secretScrubber(connection?.secrets ?? []).text((error as Error).message);
    return { ...built, problem: { ...place, tool: spec.name, path, message } };
  }
}
