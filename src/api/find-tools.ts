// Searches the tools that a caller may call, in all of them or in a toolset: the same for REST and gRPC.
import type { Principal } from '../contract/call/principal.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolSet } from '../contract/tool/tool-set.ts';
import { servesMode, type InteractionMode } from '../contract/tool/tool-spec.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import type { ToolSearch } from '../ports/registry/tool-search.ts';
import { offeringFor, type Offered } from './offered-toolset.ts';
import { isOff } from './tool-view.ts';

export interface Searched extends Offered {
  readonly catalog: Pick<ToolCatalog, 'snapshot' | 'isDisabled'>;
  readonly search: ToolSearch;
}

export interface SearchAsked {
  readonly principal: Principal;
  readonly query: string;
  readonly limit: number;
  readonly toolset: string | undefined;
  readonly agentId: string | undefined;
  readonly mode: InteractionMode | undefined;
}

export interface ToolsFound {
  readonly set: ToolSet;
  readonly functions: readonly ToolFunction[];
}

/** Throws ToolFailure, as offeringFor does. */
export async function findTools(from: Searched, asked: SearchAsked): Promise<ToolsFound> {
  const { principal, query, limit, mode } = asked;
  const { tools: set, isOffered } = offeringFor(from, asked);
  const may = (fn: ToolFunction) =>
    set.find(fn.name)?.isShownTo?.({ principal }) !== false &&
    !isOff(fn, from.catalog) &&
    (mode === undefined || servesMode(fn.spec.metadata, mode)) &&
    (isOffered === undefined || isOffered(fn));
  return { set, functions: await from.search.search({ set, query, limit, may }) };
}
