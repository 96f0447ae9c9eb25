// Which tenant's agents, and which of them, a credential reaches on the management side.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { AgentWho } from '../../ports/agents/agent-control.ts';
import { tenantAsked } from '../tenant-asked.ts';

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

/** Throws ToolFailure TENANT_REQUIRED, TENANT_MISMATCH. */
export function tenantOf(by: Principal, wanted: string | undefined): string {
  return tenantAsked(by, wanted, 'Agents');
}
