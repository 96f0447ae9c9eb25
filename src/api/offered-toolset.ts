// The toolset that a list or a look at a tool is of, if whoever asks may use it.
import type { Principal } from '../contract/call/principal.ts';
import { noSuchToolset } from '../contract/call/failure.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolSet } from '../contract/tool/tool-set.ts';
import type { ToolRequest } from '../contract/call/tool-call.ts';
import { CALL_TOOL, type Toolset } from '../contract/tool/toolset.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../ports/registry/toolsets.ts';
import { offeredTo } from './offered-to.ts';
import type { OfferedTools } from './tokens.ts';

export interface Offering {
  /** What is listed: the tools in force, or what the toolset lists. */
  readonly listed: ToolSet;
  /** What may be described and searched. */
  readonly tools: ToolSet;
  /** Of the agent that the list is for; undefined: the list is of no agent. */
  readonly isListed: ((fn: ToolFunction) => boolean) | undefined;
  readonly isOffered: ((fn: ToolFunction) => boolean) | undefined;
}

export interface Offered {
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly toolsets: Toolsets;
  readonly offered: Pick<OfferedTools, 'isOffered'>;
}

export interface Wanted {
  readonly principal: Principal;
  readonly agentId: string | undefined;
  readonly toolset: string | undefined;
}

/** Throws ToolFailure: PERMISSION_DENIED for an agent of somebody else, NOT_FOUND for a toolset of nobody or somebody else. */
export function offeringFor(from: Offered, { principal, agentId, toolset: name }: Wanted): Offering {
  const isOffered = offeredTo(from.offered, principal, agentId);
  if (name === undefined || name === '') {
    const tools = from.catalog.snapshot();
    return { listed: tools, tools, isListed: isOffered, isOffered };
  }
  const toolset = from.toolsets.find(name);
  if (toolset?.mayUse({ tenantId: principal.tenantId, agentId: agentOf(principal, agentId) }) !== true)
    throw noSuchToolset(name);
  const { listed, tools } = toolset;
  // What searches a toolset is configured for nobody.
  return { listed, tools, isListed: toolset.search === undefined ? isOffered : undefined, isOffered };
}

/** Whether some agent of the tenant may use it: what is told before a client names one. */
export function mayKnow(toolset: Toolset | undefined, { tenantId }: Principal): boolean {
  return toolset?.isOfTenant(tenantId) === true;
}

/** As calls are bound: a credential of one agent speaks for it without saying so. */
function agentOf({ agents }: Principal, said: string | undefined): string | undefined {
  if (said !== undefined && said !== '') return said;
  return agents.length === 1 && agents[0] !== '*' ? agents[0] : undefined;
}

/** What a call would run, by whatever name it is called. Undefined: there is none, or it searches a toolset. */
export function toolMeant(
  {
    catalog,
    toolsets,
  }: { readonly catalog: Pick<ToolCatalog, 'snapshot'>; readonly toolsets: Pick<Toolsets, 'find'> },
  { tool, arguments: args, context }: Pick<ToolRequest, 'tool' | 'arguments' | 'context'>,
): ToolFunction | undefined {
  const tools = catalog.snapshot();
  if (context.toolset === undefined) return tools.find(tool)?.function;
  const toolset = toolsets.find(context.toolset);
  const called = toolset?.search !== undefined && tool === CALL_TOOL ? args['name'] : tool;
  const member = typeof called === 'string' ? toolset?.member(called) : undefined;
  return member && tools.find(member.tool)?.function;
}
