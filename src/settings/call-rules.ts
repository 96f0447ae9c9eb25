// From what gateway.yaml says of modes and budgets to the rules that calls are kept to: presets laid under, units counted.
import { MILLIONTHS, type BudgetRules, type CallRules, type ModeRule } from '../contract/rules/call-rules.ts';
import { INTERACTION_MODES, type InteractionMode } from '../contract/tool/tool-spec.ts';
import { PRESETS, type BudgetSettings, type ModeSettings, type ModesSettings } from './call-settings.ts';

interface Said {
  readonly modes?: ModesSettings | undefined;
  readonly budgets?: BudgetSettings | undefined;
  readonly limits?: { readonly max_new_budgets_per_hour: number };
}

export function callRulesOf({ modes, budgets, limits }: Said): CallRules {
  const rules = modes === undefined ? [] : INTERACTION_MODES.map((mode) => ruleOf(mode, modes[mode]));
  return {
    modes: new Map(rules.map((rule) => [rule.mode, rule])),
    ...(budgets !== undefined && { budgets: budgetRulesOf(budgets) }),
    ...(limits !== undefined && { newBudgetsPerHour: limits.max_new_budgets_per_hour }),
  };
}

/** What is well-formed and cannot be kept, by its path below `modes`. */
export function modeProblems(modes: ModesSettings | undefined): readonly { path: string; message: string }[] {
  return [...callRulesOf({ modes }).modes.values()].flatMap(({ mode, hardMs, turnMs, softMs }) => [
    ...(turnMs !== undefined && hardMs === undefined
      ? [
          {
            path: `${mode}.turn_ms`,
            message: 'needs hard_ms: what a call may take is set aside when it begins',
          },
        ]
      : []),
    ...(softMs !== undefined && hardMs !== undefined && softMs > hardMs
      ? [{ path: `${mode}.soft_ms`, message: `is never reached: hard_ms ends a call after ${hardMs} ms` }]
      : []),
  ]);
}

function ruleOf(mode: InteractionMode, said: ModeSettings): ModeRule {
  const merged: ModeSettings = { ...PRESETS[mode], ...said };
  const { tools, except_tools: exceptTools, max_risk: maxRisk } = merged;
  return {
    mode,
    ...(tools !== undefined && { tools }),
    ...(exceptTools !== undefined && { exceptTools }),
    ...(maxRisk !== undefined && { maxRisk }),
    ...bounded({
      callsPerTurn: merged.calls_per_turn,
      retrievalsPerTurn: merged.retrievals_per_turn,
      softMs: merged.soft_ms,
      retrievalSoftMs: merged.retrieval_soft_ms,
      hardMs: merged.hard_ms,
      turnMs: merged.turn_ms,
    }),
  };
}

function budgetRulesOf(said: BudgetSettings): BudgetRules {
  const limits = ({ calls, cost }: BudgetSettings['per_user']) =>
    bounded({ calls, cost: cost === undefined ? undefined : Math.round(cost * MILLIONTHS) });
  return {
    session: limits(said.per_session),
    user: limits(said.per_user),
    agent: limits(said.per_agent),
    tenant: limits(said.per_tenant),
    timeZone: said.time_zone,
    onStoreFailure: said.on_store_failure,
  };
}

type Bounds = Readonly<Record<string, number | null | undefined>>;

/** Without what bounds nothing. */
function bounded<Of extends Bounds>(bounds: Of): { readonly [Name in keyof Of]?: number } {
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => typeof value === 'number')) as {
    readonly [Name in keyof Of]?: number;
  };
}
