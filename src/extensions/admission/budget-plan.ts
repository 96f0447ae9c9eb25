// BudgetPlan: the budgets that calls of one function are counted against, as far as they are the same for all of its calls.
import { budgetsOf, type Budget } from '../../contract/rules/budgets.ts';
import { MILLIONTHS, type CallRules } from '../../contract/rules/call-rules.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe } from '../../contract/tool/tool-spec.ts';
import { LocalDay } from '../../lib/schedule/local-day.ts';
import type { BudgetRule } from '../../ports/admission-control.ts';
import type { Clock } from '../../ports/clock.ts';

/** One of them, as admission asks for it, and as a refusal tells of it. */
export interface CallBudget extends BudgetRule, Pick<Budget, 'scope' | 'unit'> {
  /** When it is free again; undefined: with the next turn, or the next session. */
  readonly freeAt?: number;
}

export type BudgetsFor = (call: ToolCall) => readonly CallBudget[];

/** Undefined: gateway.yaml counts nothing that a call of this function could use. */
export function budgetPlan(fn: ToolFunction, rules: CallRules, clock: Clock): BudgetsFor | undefined {
  const { metadata } = fn.spec;
  const cost = Math.ceil((metadata.cost ?? 0) * MILLIONTHS);
  const isRetrieval = metadata.category === 'retrieval';
  if (!countsAnything(rules, isRetrieval, cost)) return undefined;
  const days = new LocalDay(rules.budgets?.timeZone ?? 'UTC');
  const onStoreFailure = isUnsafe(metadata) ? 'closed' : (rules.budgets?.onStoreFailure ?? 'local');

  /** Undefined: this call takes nothing of it. What a call does inside is part of it, but for what that costs. */
  function amountOf({ unit }: Budget, call: ToolCall): number | undefined {
    if (unit === 'cost') return cost === 0 ? undefined : cost;
    if (call.request.parent !== undefined) return undefined;
    if (unit === 'retrievals') return isRetrieval ? 1 : undefined;
    if (unit === 'calls') return 1;
    // Nobody in the conversation waits for a call that runs later.
    return call.phase.kind === 'run' ? Math.max(1, Math.floor(call.deadline - clock.now())) : undefined;
  }

  return (call) => {
    const now = clock.wall();
    const day = days.at(now);
    const found: CallBudget[] = [];
    for (const budget of budgetsOf(rules, call.context, { day, now })) {
      const amount = amountOf(budget, call);
      if (amount === undefined) continue;
      const isDaily = budget.scope !== 'turn' && budget.scope !== 'session';
      found.push({
        ...budget,
        amount,
        onStoreFailure,
        ...(budget.unit === 'ms' && { orLess: true }),
        ...(isDaily && { freeAt: day.endsAt }),
      });
    }
    return found;
  };
}

function countsAnything({ modes, budgets }: CallRules, isRetrieval: boolean, cost: number): boolean {
  const inTurns = [...modes.values()].some(
    ({ callsPerTurn, retrievalsPerTurn, turnMs }) =>
      callsPerTurn !== undefined || turnMs !== undefined || (isRetrieval && retrievalsPerTurn !== undefined),
  );
  if (inTurns || budgets === undefined) return inTurns;
  return [budgets.session, budgets.user, budgets.agent, budgets.tenant].some(
    (limits) => limits.calls !== undefined || (cost > 0 && limits.cost !== undefined),
  );
}
