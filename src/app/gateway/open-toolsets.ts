// Puts toolsets together, and what searches them.
import type { AgentTools } from '../../core/agents/agent-tools.ts';
import type { ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { Ports } from '../../ports/ports.ts';
import { ToolSearcher } from '../../registry/search/tool-searcher.ts';
import { searchListing } from '../../registry/toolsets/search-listing.ts';
import { ToolsetRegistry } from '../../registry/toolsets/toolset-registry.ts';
import type { ToolSpecRegistry } from '../../registry/tool-spec-registry.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ToolsetNeeds {
  readonly ports: Pick<Ports, 'log' | 'metrics'>;
  readonly registry: ToolSpecRegistry;
  readonly compiler: ToolCompiler;
  readonly agentTools: AgentTools | undefined;
}

/** Both follow the registry until they are closed. */
export function openToolsets(
  { toolsets: definitions }: Pick<Settings, 'toolsets'>,
  { ports, registry: catalog, compiler, agentTools }: ToolsetNeeds,
): { readonly toolsets: ToolsetRegistry; readonly search: ToolSearcher } {
  const search = new ToolSearcher({ ...ports, catalog });
  const isOffered = (whose: { tenantId: string; agentId: string }, fn: ToolFunction) =>
    agentTools?.isOffered(whose, fn) ?? true;
  const toolsets = new ToolsetRegistry(definitions, {
    ...ports,
    catalog,
    search: (toolset) => searchListing(toolset, { catalog, compiler, search, isOffered }),
    prepare: (set) => search.prepare(set),
  });
  return { toolsets, search };
}
