// ToolSearch: finds tools by what somebody wants to do.
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';

export interface SearchWanted {
  readonly set: ToolSet;
  /** In plain language. */
  readonly query: string;
  readonly limit: number;
  /** Only what it lets through is found. Asked of the best first, until there are enough. */
  readonly may: (fn: ToolFunction) => boolean;
}

export interface ToolSearch {
  /** The best first. The first search of a set waits until it has been read. */
  search(wanted: SearchWanted): Promise<readonly ToolFunction[]>;
}

/** Of a question. */
export const LONGEST_QUERY = 1_000;
export const MOST_FOUND = 50;
export const USUALLY_FOUND = 5;
