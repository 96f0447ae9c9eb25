// Budgets: what a call is counted against, and under which key: the same for who counts and for who shows what is used.
import type { InteractionMode } from '../tool/tool-spec.ts';
import type { BudgetRules, CallRules, ModeRule, SpendLimits } from './call-rules.ts';
import type { ToolContext } from '../call/tool-context.ts';

/** What it is measured in. `retrievals`: calls of tools of that category alone; `cost`: millionths of the operator's unit. */
export type BudgetUnit = 'calls' | 'retrievals' | 'ms' | 'cost';
type BudgetScope = 'turn' | 'session' | 'user' | 'agent' | 'tenant';

export interface Budget {
  /** `turn_retrievals`, `user_cost` … */
  readonly name: `${BudgetScope}_${BudgetUnit}`;
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  readonly key: string;
  readonly limit: number;
  /** After its last use nobody asks for the key any more. */
  readonly forgetAfterMs: number;
}

/** A day where budgets are counted. */
export interface Day {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

export type Counted = Pick<ToolContext, 'tenantId' | 'agentId' | 'userId' | 'sessionId' | 'turnId' | 'mode'>;

const HOUR_MS = 3_600_000;
/** Longer than any session may go without a call. */
const SESSION_MS = 25 * HOUR_MS;

/** All that apply to calls of this context, whatever the tool. Scopes never mix tenants. */
export function budgetsOf(
  rules: CallRules,
  context: Counted,
  today: { readonly day: Day; readonly now: number },
): readonly Budget[] {
  const mode: InteractionMode | undefined = context.mode;
  const rule = mode === undefined ? undefined : rules.modes.get(mode);
  return [
    ...(rule === undefined ? [] : turnBudgets(rule, context)),
    ...(rules.budgets === undefined ? [] : spendBudgets(rules.budgets, context, today)),
  ];
}

/** Where nobody says which turn it is, none can be told from another. */
function turnBudgets(rule: ModeRule, context: Counted): readonly Budget[] {
  const { turnId } = context;
  if (turnId === undefined) return [];
  const { callsPerTurn, retrievalsPerTurn, turnMs } = rule;
  const whose = [...callerOf(context), context.sessionId ?? '', turnId];
  return [
    ...budget('turn', 'calls', whose, callsPerTurn, HOUR_MS),
    ...budget('turn', 'retrievals', whose, retrievalsPerTurn, HOUR_MS),
    ...budget('turn', 'ms', whose, turnMs, HOUR_MS),
  ];
}

function spendBudgets(
  { session, user, agent, tenant }: BudgetRules,
  context: Counted,
  { day, now }: { readonly day: Day; readonly now: number },
): readonly Budget[] {
  const { sessionId, tenantId = '', agentId = '', userId = '' } = context;
  const restOfDay = Math.max(1, day.endsAt - now) + HOUR_MS;
  const daily = (scope: BudgetScope, whose: readonly string[], limits: SpendLimits) =>
    spending(scope, [...whose, day.name], limits, restOfDay);
  return [
    ...(sessionId === undefined
      ? []
      : spending('session', [...callerOf(context), sessionId], session, SESSION_MS)),
    ...daily('user', [tenantId, userId], user),
    ...daily('agent', [tenantId, agentId], agent),
    ...daily('tenant', [tenantId], tenant),
  ];
}

function callerOf({ tenantId = '', agentId = '', userId = '' }: Counted): readonly string[] {
  return [tenantId, agentId, userId];
}

function spending(
  scope: BudgetScope,
  whose: readonly string[],
  { calls, cost }: SpendLimits,
  forgetAfterMs: number,
): readonly Budget[] {
  return [
    ...budget(scope, 'calls', whose, calls, forgetAfterMs),
    ...budget(scope, 'cost', whose, cost, forgetAfterMs),
  ];
}

function budget(
  scope: BudgetScope,
  unit: BudgetUnit,
  whose: readonly string[],
  limit: number | undefined,
  forgetAfterMs: number,
): readonly Budget[] {
  if (limit === undefined) return [];
  const name = `${scope}_${unit}` as const;
  return [{ name, scope, unit, key: `${name}:${JSON.stringify(whose)}`, limit, forgetAfterMs }];
}
