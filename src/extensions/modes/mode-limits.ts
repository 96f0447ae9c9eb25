// ModeLimits: what one mode says of one function, made ready at load.
import type { ModeRule } from '../../contract/rules/call-rules.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { RISK_LEVELS, type InteractionMode } from '../../contract/tool/tool-spec.ts';
import { globMatcher } from '../../lib/text/glob.ts';

export interface ModeLimits {
  readonly mode: InteractionMode;
  /** Set: it may not be called in this mode, and why. */
  readonly refusal?: string;
  readonly softMs?: number;
  readonly hardMs?: number;
}

/** Undefined: the mode leaves the function alone. */
export function limitsOf(fn: ToolFunction, rule: ModeRule): ModeLimits | undefined {
  const { mode, hardMs } = rule;
  const refusal = refusalOf(fn, rule);
  if (refusal !== undefined) return { mode, refusal };
  const softMs = softOf(fn, rule);
  if (softMs === undefined && hardMs === undefined) return undefined;
  return { mode, ...(softMs !== undefined && { softMs }), ...(hardMs !== undefined && { hardMs }) };
}

function refusalOf({ name, spec }: ToolFunction, rule: ModeRule): string | undefined {
  const { mode, tools = ['*'], exceptTools = [], maxRisk } = rule;
  const among = (patterns: readonly string[]) => [name, spec.name].some(globMatcher(patterns));
  if (!among(tools)) return `modes.${mode}.tools does not name it`;
  if (among(exceptTools)) return `modes.${mode}.except_tools names it`;
  const { riskLevel } = spec.metadata;
  if (maxRisk === undefined || RISK_LEVELS.indexOf(riskLevel) <= RISK_LEVELS.indexOf(maxRisk))
    return undefined;
  return `its risk is ${riskLevel}, and modes.${mode}.max_risk is ${maxRisk}`;
}

function softOf({ spec }: ToolFunction, { softMs, retrievalSoftMs }: ModeRule): number | undefined {
  const all = softMs ?? Number.POSITIVE_INFINITY;
  const ofRetrievals = retrievalSoftMs ?? Number.POSITIVE_INFINITY;
  const least = spec.metadata.category === 'retrieval' ? Math.min(all, ofRetrievals) : all;
  return Number.isFinite(least) ? least : undefined;
}
