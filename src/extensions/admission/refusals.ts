// What a caller is told that admission refuses.
import { MILLIONTHS } from '../../contract/rules/call-rules.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { NEW_BUDGETS, type Admission } from '../../ports/admission-control.ts';
import type { CallBudget } from './budget-plan.ts';

export type Refused = Admission & { readonly granted: false };

export function refusalOf(decision: Refused, budgets: readonly CallBudget[]): ToolFailure {
  if (decision.refusedBy === 'budget') return budgetSpent(decision, budgets);
  const { retryAfterMs, rule } = decision;
  if (rule === NEW_BUDGETS) {
    const message =
      'Too many new users, sessions or turns of this tenant began to be counted under its budgets.';
    return toolFailure('RATE_EXCEEDED', message, { retryAfterMs, details: { limit: rule } });
  }
  if (decision.refusedBy === 'rate') {
    return toolFailure('RATE_EXCEEDED', `The rate limit ${rule} of this tool is used up.`, {
      retryAfterMs,
      details: { limit: rule },
    });
  }
  return new ToolFailure('CONCURRENCY_LIMIT', 'Too many calls of this tool run or wait already.', {
    reason: 'QUEUE_FULL',
    retryAfterMs,
  });
}

function budgetSpent(
  { rule, used }: Refused & { refusedBy: 'budget' },
  budgets: readonly CallBudget[],
): ToolFailure {
  const budget = budgets.find(({ name }) => name === rule);
  if (budget === undefined)
    throw new Error(`admission refused by the budget ${rule}, which was not asked for`);
  const inUnits = (amount: number) => (budget.unit === 'cost' ? amount / MILLIONTHS : amount);
  const freeAt = budget.freeAt === undefined ? null : new Date(budget.freeAt).toISOString();
  const when = freeAt ?? `with the next ${budget.scope}`;
  return toolFailure(
    'BUDGET_SPENT',
    `The budget ${rule} of ${inUnits(budget.limit)} has too little left for this call; it is free again ${freeAt === null ? when : `at ${when}`}.`,
    { details: { budget: rule, limit: inUnits(budget.limit), used: inUnits(used), free_at: freeAt } },
  );
}

export function leaseLost(): ToolFailure {
  return toolFailure('LEASE_LOST', 'The call lost its slot under a concurrency limit while it ran.');
}

export function turnTimeSpent(ms: number): ToolFailure {
  return toolFailure('TURN_TIME_SPENT', `The turn had ${ms} ms left for this call.`, {
    details: { limit_ms: ms },
  });
}
