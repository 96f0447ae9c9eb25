// ListedTools: tools/list: what a caller may call, page by page. Each tool is written once for each set of tools in force.
import type { Principal } from '../../../contract/call/principal.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolFunction } from '../../../contract/tool/tool-function.ts';
import type { InteractionMode } from '../../../contract/tool/tool-spec.ts';
import { mcpTool } from '../../../formats/mcp/tools.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { CALL_TOOL, SEARCH_TYPE } from '../../../contract/tool/toolset.ts';
import { offeringFor, type Offered } from '../../offered-toolset.ts';
import { pageOf } from '../../rest/route/page.ts';
import { filterFunctions, isOff } from '../../tool-view.ts';
import type { Era } from '../protocol/exchange.ts';

/** Most clients ask for every page; those that do not see the first. */
const PAGE_SIZE = 250;

export interface WantedList {
  readonly era: Era;
  readonly principal: Principal;
  readonly agentId: string | undefined;
  /** Undefined: all tools. */
  readonly toolset: string | undefined;
  readonly mode: InteractionMode | undefined;
  /** The key of the last tool of the page before. */
  readonly after: string | undefined;
}

export class ListedTools {
  readonly #from: Offered & { readonly catalog: ToolCatalog };
  /** By era: a function is another one after every change, and in every toolset that offers it otherwise. */
  readonly #written: Readonly<Record<Era, WeakMap<ToolFunction, JsonObject>>> = {
    modern: new WeakMap(),
    legacy: new WeakMap(),
  };

  constructor(from: Offered & { readonly catalog: ToolCatalog }) {
    this.#from = from;
  }

  /** Throws ToolFailure: PERMISSION_DENIED for an agent that the credential may not speak for, NOT_FOUND for a toolset. */
  page({ era, principal, agentId, toolset, mode, after }: WantedList) {
    const { catalog } = this.#from;
    const { listed, isListed: isOffered } = offeringFor(this.#from, { principal, agentId, toolset });
    const filter = { ...(mode !== undefined && { mode }), isOffered };
    const shown = filterFunctions(listed, filter, { principal }).filter((fn) => !isOff(fn, catalog));
    const wanted = { page_size: PAGE_SIZE, page_token: after };
    const { page, next_page_token: next } = pageOf(shown, ({ name }) => name, wanted);
    return { tools: page.map((fn) => this.#write(fn, era)), ...(next !== '' && { nextCursor: next }) };
  }

  readonly hasOutputSchema = (name: string): boolean => {
    return this.#from.catalog.snapshot().find(name)?.function.outputSchema !== undefined;
  };

  #write(fn: ToolFunction, era: Era): JsonObject {
    const known = this.#written[era].get(fn);
    if (known !== undefined) return known;
    // Any call may be accepted to run later, but those that search. Clients of 2026-07-28 are not asked.
    const taskSupport = isSearch(fn) ? 'forbidden' : 'optional';
    const written = era === 'modern' ? mcpTool(fn, true) : { ...mcpTool(fn), execution: { taskSupport } };
    this.#written[era].set(fn, written);
    return written;
  }
}

function isSearch({ name, spec }: ToolFunction): boolean {
  return spec.toolType === SEARCH_TYPE && name !== CALL_TOOL;
}
