// Searches the tools by what somebody wants to do.
import { Controller, Inject } from '@nestjs/common';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { ToolSearch } from '../../../ports/registry/tool-search.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import { findTools } from '../../find-tools.ts';
import { isOff, viewOf } from '../../tool-view.ts';
import { OFFERED_TOOLS, TOOL_CATALOG, TOOL_SEARCH, TOOLSETS, type OfferedTools } from '../../tokens.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { searchTools } from './search-schema.ts';

@Controller()
export class ToolSearchController {
  constructor(
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(TOOLSETS) private readonly toolsets: Toolsets,
    @Inject(OFFERED_TOOLS) private readonly offered: OfferedTools,
    @Inject(TOOL_SEARCH) private readonly index: ToolSearch,
  ) {}

  @Serves(searchTools)
  @Requires('tools:read')
  async search({ principal, query }: Asked<typeof searchTools>) {
    const { q, limit, toolset, agent_id: agentId, mode } = query;
    const { catalog, toolsets, offered, index } = this;
    const { set, functions } = await findTools(
      { catalog, toolsets, offered, search: index },
      { principal, query: q, limit, toolset, agentId, mode },
    );
    return {
      registry_version: set.version,
      tools: functions.map((fn) => viewOf(fn, set, isOff(fn, catalog))),
    };
  }
}
