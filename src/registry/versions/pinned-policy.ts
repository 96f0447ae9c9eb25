// What is asked of a call to an older version: a pin chooses what a tool does, never a weaker policy than the one in force.
import { RISK_LEVELS, type ToolMetadata, type ToolSpec } from '../../contract/tool/tool-spec.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { SpecRules } from '../spec-rules.ts';

/** Limits, times, priority and extensions are those in force; whatever guards a tool holds if either version says so. */
export function underPolicyOf(pinned: ToolSpec, inForce: ToolSpec, rules: SpecRules): ToolSpec {
  const { concurrency: _own, priority: _rank, resultBudget, ...rest } = pinned;
  const { concurrency, priority, rateLimits, timeoutMs } = inForce;
  const budget = inForce.resultBudget ?? resultBudget;
  return {
    ...rest,
    metadata: guarded(pinned.metadata, inForce.metadata),
    timeoutMs,
    rateLimits,
    ...(concurrency !== undefined && { concurrency }),
    ...(priority !== undefined && { priority }),
    ...(budget !== undefined && { resultBudget: budget }),
    extensions: extensionsOf(pinned, inForce, rules),
  };
}

function guarded(was: ToolMetadata, now: ToolMetadata): ToolMetadata {
  const { cost: _then, ...then } = was;
  return {
    ...then,
    ...(now.cost !== undefined && { cost: now.cost }),
    permissions: [...new Set([...was.permissions, ...now.permissions])],
    riskLevel:
      RISK_LEVELS.indexOf(was.riskLevel) > RISK_LEVELS.indexOf(now.riskLevel) ? was.riskLevel : now.riskLevel,
    isDangerous: was.isDangerous || now.isDangerous,
    requiresApproval: was.requiresApproval || now.requiresApproval,
    modes: was.modes.filter((mode) => now.modes.includes(mode)),
    // What rules of policies name. Whether it writes is what it does, and stays as it was.
    tags: [...new Set([...was.tags, ...now.tags])],
    ...(now.category !== undefined && { category: now.category }),
  };
}

/** Whoever wrote rules relies on them: a version that they do not fit cannot be called. */
const NEVER_LEFT_OUT: ReadonlySet<string> = new Set(['policy', 'approval', 'argument-guard', 'result-guard']);

/** Other options in force that this version cannot have, such as a cache for what changes things, are left out. */
function extensionsOf(pinned: ToolSpec, inForce: ToolSpec, rules: SpecRules): ToolSpec['extensions'] {
  const functions = functionsOf(pinned).filter(({ byAction }) => byAction === undefined);
  const fitting = Object.entries(inForce.extensions).filter(([name, own]) => {
    if (NEVER_LEFT_OUT.has(name)) return true;
    const extension = rules.extensions.get(name);
    const parsed = extension?.optionsSchema.safeParse({ ...extension.defaults, ...own });
    if (extension === undefined || parsed?.success !== true) return false;
    return functions.every((fn) => (extension.check?.(fn, parsed.data) ?? []).length === 0);
  });
  return { ...pinned.extensions, ...Object.fromEntries(fitting) };
}
