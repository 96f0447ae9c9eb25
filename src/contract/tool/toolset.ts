// Toolset: some of the tools, as an operator offers them: under names, words and parameters of their own. It gives nobody a right.
import type { JsonObject } from '../json.ts';
import type { KnownTools } from './tool-function.ts';
import type { ToolSet } from './tool-set.ts';

export interface Toolset {
  readonly name: string;
  readonly description?: string;
  /** Its tools as it offers them, the listed ones or not. */
  readonly tools: ToolSet;
  /** What a list of it holds: its tools, or with `listing: search` those that search them. */
  readonly listed: ToolSet;
  /** By the name that it gives a tool, or the provider's spelling of that. */
  member(name: string): ToolsetMember | undefined;
  /** Set with `listing: search`: what runs under the names of `listed`; `call_tool` runs nothing of its own. */
  readonly search?: KnownTools;
  mayUse(who: ToolsetUser): boolean;
  /** Whether anybody of the tenant may. */
  isOfTenant(tenantId: string): boolean;
}

export interface ToolsetMember {
  /** As it is called through the toolset. */
  readonly name: string;
  /** The function that it is. */
  readonly tool: string;
  /** Arguments of every call. */
  readonly fixed: JsonObject;
  /** Arguments that no caller gives: those that are fixed and those that are hidden, in every spelling. */
  readonly closed: ReadonlySet<string>;
}

export interface ToolsetUser {
  readonly tenantId: string | undefined;
  readonly agentId: string | undefined;
}

/** What the three are of, in place of an executor. */
export const SEARCH_TYPE = 'toolset';
export const SEARCH_TOOLS = 'search_tools';
export const DESCRIBE_TOOLS = 'describe_tools';
export const CALL_TOOL = 'call_tool';
/** Of every toolset that is searched: no tool of it has one of these names. */
export const SEARCH_NAMES: readonly string[] = [SEARCH_TOOLS, DESCRIBE_TOOLS, CALL_TOOL];
