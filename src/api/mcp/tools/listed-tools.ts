// ListedTools: tools/list: what a caller may call, page by page. Each tool is written once for each set of tools in force.
import type { Principal } from '../../../contract/call/principal.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolFunction } from '../../../contract/tool/tool-function.ts';
import type { InteractionMode } from '../../../contract/tool/tool-spec.ts';
import { mcpTool } from '../../../formats/mcp/tools.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { offeredTo } from '../../offered-to.ts';
import { pageOf } from '../../rest/route/page.ts';
import { filterFunctions, isOff } from '../../tool-view.ts';
import type { OfferedTools } from '../../tokens.ts';
import type { Era } from '../protocol/exchange.ts';

/** Most clients ask for every page; those that do not see the first. */
const PAGE_SIZE = 250;

export interface WantedList {
  readonly era: Era;
  readonly principal: Principal;
  readonly agentId: string | undefined;
  readonly mode: InteractionMode | undefined;
  /** The key of the last tool of the page before. */
  readonly after: string | undefined;
}

export class ListedTools {
  readonly #catalog: ToolCatalog;
  readonly #offered: OfferedTools;
  readonly #written = new Map<string, JsonObject>();

  constructor(catalog: ToolCatalog, offered: OfferedTools) {
    this.#catalog = catalog;
    this.#offered = offered;
    catalog.onChange(() => this.#written.clear());
  }

  /** Throws ToolFailure PERMISSION_DENIED for an agent that the credential may not speak for. */
  page({ era, principal, agentId, mode, after }: WantedList) {
    const snapshot = this.#catalog.snapshot();
    const isOffered = offeredTo(this.#offered, principal, agentId);
    const filter = { ...(mode !== undefined && { mode }), isOffered };
    const shown = filterFunctions(snapshot, filter, { principal }).filter((fn) => !isOff(fn, this.#catalog));
    const wanted = { page_size: PAGE_SIZE, page_token: after };
    const { page, next_page_token: next } = pageOf(shown, ({ name }) => name, wanted);
    return { tools: page.map((fn) => this.#write(fn, era)), ...(next !== '' && { nextCursor: next }) };
  }

  readonly hasOutputSchema = (name: string): boolean => {
    return this.#catalog.snapshot().find(name)?.function.outputSchema !== undefined;
  };

  #write(fn: ToolFunction, era: Era): JsonObject {
    const key = `${era} ${fn.name}`;
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    // Any call may be accepted to run later. Clients of 2026-07-28 are not asked.
    const written =
      era === 'modern' ? mcpTool(fn, true) : { ...mcpTool(fn), execution: { taskSupport: 'optional' } };
    this.#written.set(key, written);
    return written;
  }
}
