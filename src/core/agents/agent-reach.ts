// Which tenant's agents, and which of them, a credential reaches on the management side.
import { toolFailure } from '../../contract/call/failure.ts';
import { holds, type Principal } from '../../contract/call/principal.ts';
import type { AgentWho } from '../../ports/agents/agent-control.ts';

/** Who holds it reaches the agents of every tenant. */
const PLATFORM = 'platform:admin';

/** Throws ToolFailure PERMISSION_DENIED. */
export function agentOf(by: Principal, { tenant, agent }: AgentWho): { tenantId: string; name: string } {
  const tenantId = tenantOf(by, tenant);
  if (!by.agents.includes('*') && !by.agents.includes(agent))
    throw toolFailure(
      'AGENT_MISMATCH',
      `The credential that asks may speak for ${by.agents.join(', ')}, and changes no other agent.`,
      { details: { field: 'agent' } },
    );
  return { tenantId, name: agent };
}

export function tenantOf(by: Principal, wanted: string | undefined): string {
  const tenantId = wanted ?? by.tenantId;
  if (tenantId === '')
    throw toolFailure('TENANT_REQUIRED', 'This credential is of no tenant: name one with ?tenant=.', {
      details: { field: 'tenant' },
    });
  if (tenantId === by.tenantId || holds(by, PLATFORM)) return tenantId;
  throw toolFailure('TENANT_MISMATCH', `Agents of another tenant need the permission ${PLATFORM}.`, {
    details: { field: 'tenant' },
  });
}
