// ToolCatalog: the set of tools in force, for doors that list and watch it.
import type { ToolSet } from '../../contract/tool/tool-set.ts';

export interface ToolCatalog {
  snapshot(): ToolSet;
  /** Runs after each swap of the snapshot, and after a kill switch was turned; the returned function ends it. */
  onChange(listener: (snapshot: ToolSet) => void): () => void;
  isDisabled(toolName: string): boolean;
}
