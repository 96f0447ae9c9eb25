// A session as every door shows it.
import { MILLIONTHS } from '../contract/rules/call-rules.ts';
import type { SessionView, UsedBudget } from '../sessions/sessions.ts';

/** snake_case, as REST sends it. */
export function sessionFields({ session, state }: Omit<SessionView, 'budgets'>) {
  return {
    id: session.id,
    state,
    tenant_id: session.tenantId,
    agent_id: orNull(session.agentId),
    user_id: orNull(session.userId),
    mode: session.mode,
    turn_id: String(session.turn),
    turns: session.turn,
    registry_version: session.registryVersion,
    created_at: session.createdAt.toISOString(),
    created_by: session.principalId,
    last_used_at: session.lastUsedAt.toISOString(),
    over_at: session.overAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    ended_at: session.endedAt?.toISOString() ?? null,
    ended_by: session.endedBy,
  };
}

export function sessionWithBudgets(view: SessionView) {
  return { ...sessionFields(view), budgets: view.budgets.map(budgetFields) };
}

export type WireSession = ReturnType<typeof sessionWithBudgets>;

function budgetFields({ name, unit, limit, used, freeAt }: UsedBudget) {
  const inUnits = (amount: number) => (unit === 'cost' ? amount / MILLIONTHS : amount);
  return {
    name,
    limit: inUnits(limit),
    used: used === undefined ? null : inUnits(used),
    free_at: freeAt === undefined ? null : new Date(freeAt).toISOString(),
  };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}
