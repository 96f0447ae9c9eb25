// A plan as a tool of its tenant: what its steps may call, what they call it with now, and the definition that is kept.
import { hash } from 'node:crypto';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject } from '../../contract/json.ts';
import { whatRuns, type ToolFunction } from '../../contract/tool/tool-function.ts';
import { INTERACTION_MODES } from '../../contract/tool/tool-spec.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { invalid, nothingDone, type Violation } from './plan-failures.ts';
import { readPlan, type Plan } from './read-plan.ts';

export const PLAN_TAG = 'plan';
export const PLAN_TYPE = 'plan';
const SUFFIX = 10;

export interface DraftedPlan {
  /** What it is called as a tool: nobody else's name can be the same. */
  readonly name: string;
  readonly document: JsonObject;
  /** For the eyes of whoever approves it. */
  readonly shown: JsonObject;
}

/** Throws ToolFailure VALIDATION (PLAN_INVALID), or UNAVAILABLE where what a step runs is being changed. */
export async function draftPlan(call: ToolCall, tenantId: string, mostSteps: number): Promise<DraftedPlan> {
  const plan = readPlan(call.arguments, mostSteps);
  const steps = stepTools(call, plan);
  const agreed: { [tool: string]: string } = {};
  for (const [tool, fn] of steps) {
    const runs = await whatRuns(fn, call.snapshot);
    if (runs === undefined)
      throw nothingDone('TOOL_CHANGING', `The tool "${tool}" is being changed.`, { retryAfterMs: 3_000 });
    agreed[tool] = runs;
  }
  const name = `plan_${plan.name}_${hash('sha256', `${tenantId}\n${canonicalHash(call.arguments)}`).slice(0, SUFFIX)}`;
  const fns = [...steps.values()];
  const { description, inputSchema, result } = plan;
  const document: JsonObject = {
    name,
    description,
    tool_type: 'composite',
    input_schema: inputSchema,
    implementation_config: { steps: [...plan.steps], agreed, ...(result !== undefined && { result }) },
    metadata: {
      tenants: [tenantId],
      tags: [PLAN_TAG],
      permissions: [...new Set(fns.flatMap(({ spec }) => spec.metadata.permissions))],
      read_only: fns.every(({ spec }) => spec.metadata.readOnly),
      modes: INTERACTION_MODES.filter((mode) => fns.every(({ spec }) => spec.metadata.modes.includes(mode))),
    },
  };
  return { name, document, shown: { tool: name, tenant: tenantId, steps: shownSteps(plan, steps) } };
}

/** What whoever proposes it could call: of their tenant, shown to them, in force, and no plan. */
function stepTools(call: ToolCall, { calls }: Plan): ReadonlyMap<string, ToolFunction> {
  const wrong: Violation[] = [];
  const found = new Map<string, ToolFunction>();
  for (const { id, tool } of calls) {
    const fn = callable(call, tool);
    if (fn === undefined)
      wrong.push({ pointer: '/steps', message: `step "${id}": there is no tool "${tool}"` });
    else if (isPlan(fn)) wrong.push({ pointer: '/steps', message: `step "${id}": a plan calls no plan` });
    else found.set(tool, fn);
  }
  const modes = INTERACTION_MODES.filter((mode) =>
    [...found.values()].every(({ spec }) => spec.metadata.modes.includes(mode)),
  );
  if (modes.length === 0)
    wrong.push({ pointer: '/steps', message: 'no mode is served by all of these tools' });
  if (wrong.length > 0) throw invalid(wrong);
  return found;
}

/** By the name that the declaration gives it: a model's spelling of it is another text, and stays one. */
function callable({ snapshot, principal, request }: ToolCall, name: string): ToolFunction | undefined {
  const tool = snapshot.find(name);
  const { toolset } = request.through ?? {};
  if (tool === undefined || tool.function.name !== name || principal === undefined) return undefined;
  if (tool.isShownTo?.({ principal }) === false || tool.function.spec.metadata.internal === true)
    return undefined;
  // Through a toolset it is that which is offered.
  if (toolset !== undefined && toolset.tools.find(name) === undefined) return undefined;
  return tool.function;
}

function isPlan({ spec }: ToolFunction): boolean {
  return spec.toolType === PLAN_TYPE || spec.metadata.tenants !== undefined;
}

function shownSteps({ calls }: Plan, tools: ReadonlyMap<string, ToolFunction>): JsonObject[] {
  return calls.flatMap(({ id, tool }) => {
    const fn = tools.get(tool);
    if (fn === undefined) return [];
    const { version, riskLevel, isDangerous, readOnly, requiresApproval, permissions } = fn.spec.metadata;
    return {
      id,
      tool,
      description: fn.description,
      version,
      risk_level: riskLevel,
      is_dangerous: isDangerous,
      requires_approval: requiresApproval,
      read_only: readOnly,
      permissions: [...permissions],
    };
  });
}
