// For whom a caller may speak: tenant, agent and user as it names them, bound to its credential.
import { toolFailure } from './failure.ts';
import type { Principal } from './principal.ts';
import type { Reason } from './reasons/reasons.ts';
import type { ToolContext } from './tool-context.ts';
import { ToolFailure } from './tool-failure.ts';

/** Throws ToolFailure PERMISSION_DENIED. What it leaves out, the credential fills in. */
export function boundTo(principal: Principal, said: ToolContext): ToolContext {
  const { tenantId, agents, userId } = principal;
  if (tenantId === '') throw withoutTenant();
  if (said.tenantId !== undefined && said.tenantId !== tenantId) throw foreign('tenant', 'tenant_id');
  if (userId !== undefined && said.userId !== undefined && said.userId !== userId)
    throw foreign('user', 'user_id');
  if (said.agentId !== undefined && !agents.includes('*') && !agents.includes(said.agentId)) {
    throw foreign('agent', 'agent_id');
  }
  const onlyAgent = agents.length === 1 && agents[0] !== '*' ? agents[0] : undefined;
  return { ...said, tenantId, agentId: said.agentId ?? onlyAgent, userId: userId ?? said.userId };
}

function withoutTenant(): ToolFailure {
  const message =
    'This credential belongs to no tenant, and every call is made for one: use a key of a tenant.';
  return new ToolFailure('PERMISSION_DENIED', message, { reason: 'TENANT_REQUIRED' });
}

function foreign(what: keyof typeof MISMATCHES, field: string): ToolFailure {
  const message = `This credential may not speak for the ${what} named in ${field}.`;
  return toolFailure(MISMATCHES[what], message, { details: { field } });
}

const MISMATCHES = {
  agent: 'AGENT_MISMATCH',
  tenant: 'TENANT_MISMATCH',
  user: 'USER_MISMATCH',
} as const satisfies Record<string, Reason>;
