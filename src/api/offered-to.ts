// Which tools an agent is offered, in lists that name one: those that are configured for it and switched on.
import type { Principal } from '../contract/call/principal.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { OfferedTools } from './tokens.ts';

/** Undefined: the list names no agent. Throws ToolFailure PERMISSION_DENIED for an agent that the credential may not speak for. */
export function offeredTo(
  offered: Pick<OfferedTools, 'isOffered'>,
  { tenantId, agents }: Principal,
  agentId: string | undefined,
): ((fn: ToolFunction) => boolean) | undefined {
  if (agentId === undefined || agentId === '') return undefined;
  if (!agents.includes('*') && !agents.includes(agentId))
    throw toolFailure('AGENT_MISMATCH', 'This credential may not speak for the agent named in agent_id.', {
      details: { field: 'agent_id' },
    });
  return (fn) => offered.isOffered({ tenantId, agentId }, fn);
}
