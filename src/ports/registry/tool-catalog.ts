// ToolCatalog: the set of tools in force, for doors that list and watch it.
import type { RegistrySnapshot } from '../../contract/tool/registry-snapshot.ts';

export interface ToolCatalog {
  snapshot(): RegistrySnapshot;
  /** Runs after each swap of the snapshot, and after a kill switch was turned; the returned function ends it. */
  onChange(listener: (snapshot: RegistrySnapshot) => void): () => void;
  isDisabled(toolName: string): boolean;
}
